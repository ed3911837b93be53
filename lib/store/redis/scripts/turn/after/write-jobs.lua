-- Writes what a turn has decided of jobs.
-- `handOut`: writes the claims of the jobs in `fit`, or moves them. `isClaiming`: whether they are claimed. `claimsLast`: that is still to be
-- done, after all else that this turn writes of jobs. `noteFailure`: see failures.lua.
-- @takes settings, decided, handOut, isClaiming, fit, endJob, jobsKey, claimsKey, failuresKey, activeKey, deadKey, usedIdsKey, queuedKey, statsKey, keepCompleted
-- @gives claimsLast, noteFailure
-- Before other writes about these jobs: whatever else this turn decides of one wins, and one that is claimed anew gets another claim.
if decided.reported[1] then redis.call('HSET', claimsKey, unpack(decided.reported)) end
if decided.confirmed[1] then redis.call('HSET', claimsKey, unpack(decided.confirmed)) end
-- Claim before removing settled jobs: an emptied `active` key would be freed and rebuilt every turn. But not where jobs go back: a
-- running job that somebody has put into its lane may be both put back and claimed in one turn, and then the claim must win.
local putsBack = decided.settlements[1] or decided.expired[1]
claimsLast = fit[1] and isClaiming and putsBack
if fit[1] and not claimsLast then handOut() end
if putsBack then
  -- @include turn/settle/failures.lua
end
-- @include turn/settle/write-settled.lua
-- In portions: a worker that calls its handlers with many jobs holds more than one call of Redis takes.
local RENEWED_A_CALL = 4000
for i = 1, #decided.renewed, RENEWED_A_CALL do
  redis.call('ZADD', activeKey, 'XX', unpack(decided.renewed, i, math.min(i + RENEWED_A_CALL - 1, #decided.renewed)))
end
