-- What the session says in this turn: its settlements, its renewals, and the limits of its handlers. And what nobody says any more: jobs
-- whose leases have run out. Jobs that this turn settles or renews are not recovered in it, however late they are.
-- `renewed`: two for each renewed job, when its lease ends and its id. `confirmed`: two for each unconfirmed job that is renewed, its id and
-- its claim without the mark. `lost`: ids of leases that are lost. `toCancel`: ids of renewed jobs that are to be cancelled.
-- @takes ARGV, completedFrom, isRecovering, jobsKey, claimsKey, failuresKey, activeKey, queuedKey, leaseMs, maxCrashes, now, digits, laneOf, nameOf, tagsOf, idWasChosen, readClaims, marksOf, hasMark, parseClaim, laneAfter, tagsOfClaim, untagJob, enterLane, endJob, endedIds, settlements, returning, expired, recovered
-- @gives bits, takeovers, renewed, confirmed, lost, toCancel, handlers
-- @include turn/settle/once.lua
-- @include turn/settle/lists.lua
-- @include turn/settle/completed.lua
local others, renewals = nextList(5), nextList(2)
renewed, confirmed, lost, toCancel = {}, {}, {}, {}
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
if isRecovering then
  -- @include turn/settle/recover.lua
end
-- @include turn/claim/handlers.lua
