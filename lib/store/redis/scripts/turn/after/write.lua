-- Writes what a turn has decided: of a worker or a pull, which claims jobs, and of a relay, which moves them.
-- `handOut`: writes the claims of the jobs in `fit`, or moves them. `isClaiming`: whether they are claimed.
-- @needs parts/clock.lua, parts/lanes.lua, parts/untag.lua, parts/wake/sleepers.lua
-- @takes settings, me, opening, decided, report, outlook, activeKey, base, claimsKey, completedKey, deadKey, endJob, failuresKey, firstLeaseEnd, fit, grace, handOut, handlers, isClaiming, isHere, jobsKey, nextCursor, ownWorker, picked, preferredIndex, queuedKey, rate, rateKey, recurring, resultsKey, sleepersKey, sleepingKey, statsKey, stopped, suspectIndex, usedIdsKey, workersKey, yield, grouping
-- A removal comes first, even of nothing: Redis with a full memory then lets the script finish, and the queue drains.
redis.call('ZREM', sleepersKey, me.session)
-- The last of its crew to wait; who sleeps next lists the crew again.
if outlook.wasListed and not known.ownCrew.sleepers[1] then redis.call('ZREM', sleepingKey, me.crew) end
-- Before anything else is written: where the key is of somebody else's type, nothing is left half done.
if outlook.sleepUntil and outlook.hears then redis.call('ZADD', sleepingKey, 'GT', digits(outlook.sleepUntil), me.crew) end
-- @include turn/settle/keep-ended.lua
-- Before other writes about these jobs: whatever else this turn decides of one wins, and one that is claimed anew gets another claim.
if decided.reported[1] then redis.call('HSET', claimsKey, unpack(decided.reported)) end
if decided.confirmed[1] then redis.call('HSET', claimsKey, unpack(decided.confirmed)) end
-- Claim before removing settled jobs: an emptied `active` key would be freed and rebuilt every turn. But not where jobs go back: a
-- running job that somebody has put into its lane may be both put back and claimed in one turn, and then the claim must win.
local putsBack, noteFailure = decided.settlements[1] or decided.expired[1], nil
local claimsLast = isClaiming and putsBack
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
if decided.expired[1] then
  -- @include turn/settle/write-recovered.lua
end
if fit[1] and claimsLast then handOut() end
if rate then
  local rateWindowMs, started = settings.rateWindowMs, #fit
  -- @include turn/after/note-starts.lua
end
if recurring then recurring.write(isClaiming) end
if grouping then grouping.prepareTurns() end
closeLanes(grouping and grouping.writeTurns)
local isIdle = not picked[1]
if isIdle or decided.died > 0 or decided.remembered[1] or (decided.endedIds[1] and settings.keepCompletedCount > 0) then
  -- @include turn/after/trim.lua
end
writeUntagged()
-- @include turn/after/sleep.lua
if me.presence ~= '' then
  -- @include turn/after/presence.lua
end
