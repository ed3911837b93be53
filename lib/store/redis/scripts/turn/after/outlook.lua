-- Finds when this session looks again and whom it wakes. The last reads before the writes.
-- `outlook`:
--   limitAfter     how much more this session may claim
--   stopsLooking   it does not look again after this turn: a pull has claimed something, or no pop waits
--   hears          it stands among the sleepers, and can be told
--   sleepUntil     the longest that it may sleep after this turn, false where it will not
--   stopsSleeping  it stood among the sleepers, and stops looking
--   fills          it has claimed as much as it may, so it looks again only when something that it runs has ended: another one of its crew has to look
--                  for what becomes due meanwhile
--   isSleeper      this turn has put it among the sleepers (sleep.lua)
--   isOffSleepers  nobody reads it among the sleepers: this turn has taken it off, or has found it absent or out of date
--   lookAt, handOverAt  when it looks again, or another one has to in its place (see sleep.lua)
--   looksAgain     jobs that this turn puts back or adds may be due already, or one that it picked was turned away
--   looksOn        this turn has gone on where an earlier one stopped looking
--   toWake         why others are to be woken:
--     isFreed      this turn made room for jobs that `globalConcurrency` has kept from everybody
--     preferred    workers to wake for the freed places; nil for none
--     hasOrphans   this worker leaves for good, and jobs preferred it
--     handsOver     this process is no longer kept for suspects, and others wait for one that is
-- @needs parts/clock.lua, parts/envelope.lua, parts/lanes.lua, parts/wake/sleepers.lua
-- @takes isClaiming, settings, me, decided, wish, fit, fullNames, nextCursor, places, yieldsKey, base, sleepersKey, ownWorker, preferredIndex, suspectIndex
-- @gives outlook
-- @changes stopped, suspect
local stopsLooking = me.standing == 'goes' or (me.standing == 'until-claimed' and fit[1] ~= nil)

-- A suspect that was turned away is not taken.
if suspect == 'taken' and not fit[1] then suspect = 'reserved' end
-- A process that is kept for a suspect has capacity for nothing else. It has capacity for the suspect where only the gate holds that up.
local limitAfter = suspect == 'reserved' and wish == 'reserve' and 0 or me.limit
-- Other due jobs are left to others of the crew.
if limitAfter < me.limit or suspect == 'taken' then stopped = 'limit' end
for i = 1, #fit do limitAfter = limitAfter - fit[i].weight end

local hasSeenAll = limitAfter > 0 and (not stopped or stopped == 'gate')

-- A place that somebody leaves counts as taken: whoever respects it sleeps, and has to be told of another one.
local function areSomeLeft()
  return redis.call('ZCOUNT', yieldsKey, '(' .. digits(now), digits(now + YIELD_MS)) > 0
end
local isFreed = places and places.left > 0 and (places.wasFull or places.leaving > 0 and areSomeLeft())
local toWake = { isFreed = isFreed, preferred = nil, hasOrphans = false, handsOver = wish == 'leave' and suspectIndex.count > 0 }
outlook = {
  limitAfter = limitAfter,
  stopsLooking = stopsLooking,
  hears = me.canHear and not stopsLooking,
  -- A third of a lease at the most: then leases taken meanwhile are known before they run out, and the queue counts as served.
  sleepUntil = hasSeenAll and nextCursor == '' and math.floor(now + math.min(settings.maxSleepMs, settings.leaseMs / 3)),
  stopsSleeping = stopsLooking and redis.call('ZSCORE', sleepersKey, me.session),
  fills = isClaiming and fit[1] ~= nil and limitAfter <= 0,
  looksOn = me.cursor ~= '',
  toWake = toWake,
}
if me.presence == 'gone' then
  toWake.hasOrphans = preferredIndex.count > 0 and redis.call('EXISTS', base .. 'levels:' .. ownWorker) == 1
  for _, lane in ipairs(laneList) do toWake.hasOrphans = toWake.hasOrphans or preferredOf(lane.name) == ownWorker end
end
if toWake.isFreed or toWake.hasOrphans or toWake.handsOver then readCrews() end
if (stopped and stopped ~= 'gate') or outlook.fills or next(fullNames) then readOwnCrew() end
-- Wake the preferred workers themselves: a generic wake-up might reach a worker that may not run these jobs.
if toWake.isFreed and preferredIndex.count > 0 then
  local opensAt = now
  -- @include parts/wake/preferred.lua
  toWake.preferred = preferredOfDue
end
if stopsLooking and (outlook.stopsSleeping or decided.settlements[1] or decided.returning[1] or decided.looksAgain or nextCursor ~= '') then readOwnCrew() end
