-- Takes in all that the session sends: settlements, renewals, progress, limits of its handlers; and recovers the jobs whose leases have
-- run out, but for those that this turn settles, renews or keeps progress of, however late they are.
-- @needs turn/claims.lua
-- @takes bits, settings, decided, report, ARGV, completedFrom, isRecovering, jobsKey, claimsKey, failuresKey, activeKey, endJob, grouping
-- @gives handlers
-- @include turn/settle/already-settled.lua
-- @include turn/settle/parse-lists.lua
-- @include turn/settle/completed.lua
local others, nextSteps, renewals, reports = nextList(5), nextList(5), nextList(2), nextList(3)
local takePlace, extended
-- Most turns have none of these, and make no functions for them: a function costs a turn as much as reading a key.
if uncommon[1] or others.n > 0 or isRecovering then
  -- @include turn/settle/takeover.lua
end
if uncommon[1] or others.n > 0 then
  local otherClaims, keepsCompleted = readClaims(others[2]), settings.keepCompletedCount > 0
  -- @include turn/settle/other-settlements.lua
end
if nextSteps.n > 0 then
  -- @include turn/settle/next-steps.lua
end
if extended or renewals.n > 0 then
  -- @include turn/settle/renew.lua
end
if reports.n > 0 then
  -- @include turn/settle/reports.lua
end
if isRecovering then
  -- @include turn/settle/recover.lua
end
-- @include turn/claim/handlers.lua
