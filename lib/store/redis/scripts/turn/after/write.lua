-- Writes what a turn has decided: of a worker or a pull, which claims jobs, and of a relay, which moves them.
-- `handOut`: writes the claims of the jobs in `fit`, or moves them. `isClaiming`: whether they are claimed.
-- @needs parts/clock.lua, parts/lanes.lua, parts/untag.lua, parts/wake/sleepers.lua
-- @takes writeFollowUps, settings, me, opening, isHere, ownWorker, preferredIndex, suspectIndex, levelsKey, decided, report, outlook, gate, gateKey, activeKey, base, claimsKey, completedKey, deadKey, endJob, failuresKey, firstLeaseEnd, fit, grace, handOut, handlers, isClaiming, jobsKey, nextCursor, picked, queuedKey, rate, rateKey, recurring, resultsKey, sleepersKey, handlesKey, sleepingKey, statsKey, stopped, usedIdsKey, yield, grouping
local FORGOTTEN_PAUSE_MS = 60000
readLevels()
-- A removal comes first, even of nothing: Redis with a full memory then lets the script finish, and the queue drains.
redis.call('ZREM', sleepersKey, me.session)
-- The last of its crew to wait; who sleeps next lists the crew again.
if outlook.stopsSleeping and not known.ownCrew.sleepers[1] then redis.call('ZREM', sleepingKey, me.crew) end
-- Before anything else is written: where the key is of somebody else's type, nothing is left half done. Ordinary turns, which come between
-- those that list the session, note nothing here.
do
  local sleepsUntil = outlook.hears and (me.presence == 'here' and now + settings.leaseMs or outlook.sleepUntil)
  if sleepsUntil then redis.call('ZADD', sleepingKey, 'GT', digits(sleepsUntil), me.crew) end
end
-- @include turn/settle/keep-ended.lua
local keepCompleted
if settings.keepCompletedCount > 0 and decided.settlements[1] then
  -- @include turn/settle/keep-completed.lua
end
-- @include turn/after/write-jobs.lua
if decided.expired[1] then
  -- @include turn/settle/write-recovered.lua
end
if claimsLast then handOut() end
if rate then
  local rateWindowMs, started = settings.rateWindowMs, #fit
  -- @include turn/after/note-starts.lua
end
if recurring then recurring.write(isClaiming) end
if grouping then grouping.prepareTurns() end
if writeFollowUps then writeFollowUps() end
closeLanes(grouping and grouping.writeTurns)
local isIdle = not picked[1]
if isIdle or decided.died > 0 or decided.remembered[1] or (decided.endedIds[1] and settings.keepCompletedCount > 0) then
  -- @include turn/after/trim.lua
end
writeUntagged()
local nextEvent
-- @include turn/after/next-event.lua
outlook.looksAgain = decided.returning[1] or decided.looksAgain
-- @include turn/after/sleep.lua
if me.presence ~= '' then
  local presence, host, options = me.presence, me.host, me.options
  -- @include turn/after/presence.lua
  -- A pause that is long over: as long as `gate` is there, each turn is a whole one. Not at once, as the clock may have gone ahead and be set back.
  if gate and gate.pausedUntil > 0 and gate.pausedUntil < now - FORGOTTEN_PAUSE_MS then redis.call('HDEL', gateKey, 'pausedUntil') end
end
