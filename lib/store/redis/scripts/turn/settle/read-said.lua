-- What the session says in this turn: its settlements, its renewals, what its jobs report, and the limits of its handlers. And what nobody
-- says any more: jobs whose leases have run out. Jobs that this turn settles, renews or reports of are not recovered in it, however late.
-- @takes settings, decided, report, ARGV, completedFrom, isRecovering, jobsKey, claimsKey, failuresKey, activeKey, queuedKey, now, digits, laneOf, nameOf, tagsOf, idWasChosen, readClaims, marksOf, hasMark, parseClaim, laneAfter, tagsOfClaim, untagJob, enterLane, endJob
-- @gives handlers
-- @include turn/settle/once.lua
-- @include turn/settle/lists.lua
-- @include turn/settle/completed.lua
local others, renewals, reports = nextList(5), nextList(2), nextList(3)
local takePlace, extended
-- Most turns have none of these, and make no functions for them: a function costs a turn as much as reading a key.
if odd[1] or others.n > 0 or isRecovering then
  -- @include turn/settle/takeover.lua
end
if odd[1] or others.n > 0 then
  -- @include turn/settle/other-settlements.lua
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
