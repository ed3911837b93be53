-- What remains to be done after this turn: by this session, and by others that it may have to wake. The last reads before the writes.
-- `limitAfter`: how much more this session may claim. `stopsLooking`: it does not go on looking after this turn; a pull looks only until
-- it has claimed something, or nobody waits any more. `hears`: it stands among the sleepers, and can be told.
-- `sleepUntil`: the longest that it may sleep after this turn, false where it will not. `otherSleepers`: when others of its group look.
-- `activeAfter`: places under `globalConcurrency` that are taken after this turn. `toWake`: why others are to be woken:
--   isFreed     this turn made room for jobs that this limit has kept from everybody
--   preferred   workers to wake for the freed places; nil for none
--   hasOrphans  this worker leaves for good, and jobs preferred it
--   passesOn    this process is no longer kept for suspects, and others wait for one that is
-- `wasListed`: this session stood among the sleepers, and stops looking.
-- @takes session, standing, canHear, presence, wish, limit, fit, fullNames, nextCursor, lookAgain, settlements, returning, globalConcurrency, placesTaken, offers, base, sleepersKey, leaseMs, maxSleepMs, now, digits, ON_ITS_WAY_MS, ownWorker, preferredIndex, suspectIndex, laneList, preferredOf, readGroups, readOwnGroup
-- @gives limitAfter, stopsLooking, hears, sleepUntil, otherSleepers, activeAfter, toWake, wasListed
-- @changes stopped, suspect
stopsLooking = standing == 'goes' or (standing == 'until-claimed' and fit[1] ~= nil)
hears = canHear and not stopsLooking

-- A suspect that was turned away is not taken.
if suspect == 'taken' and not fit[1] then suspect = 'reserved' end
-- A process that is kept for a suspect has capacity for nothing else. It has capacity for the suspect where only the gate holds that up.
limitAfter = suspect == 'reserved' and wish == 'reserve' and 0 or limit
-- Other due jobs are left to others of the group.
if limitAfter < limit or suspect == 'taken' then stopped = 'limit' end
for i = 1, #fit do limitAfter = limitAfter - fit[i].weight end

local hasSeenAll = limitAfter > 0 and (not stopped or stopped == 'gate')
-- A third of a lease at the most: then leases taken meanwhile are known before they run out, and the queue counts as served.
sleepUntil = hasSeenAll and nextCursor == '' and math.floor(now + math.min(maxSleepMs, leaseMs / 3))
otherSleepers = {}
if hasSeenAll then
  local found = redis.call('ZRANGE', sleepersKey, digits(now - ON_ITS_WAY_MS), '+inf', 'BYSCORE', 'LIMIT', 0, 3, 'WITHSCORES')
  for i = 1, #found, 2 do
    if found[i] ~= session then otherSleepers[#otherSleepers + 1] = tonumber(found[i + 1]) end
  end
end

toWake = {}
if offers then
  activeAfter = offers.running + placesTaken + offers.held
  toWake.isFreed = offers.before + offers.counted >= globalConcurrency and activeAfter < globalConcurrency
end
if presence == 'gone' then
  local hasOrphans = preferredIndex.count > 0 and redis.call('EXISTS', base .. 'levels:' .. ownWorker) == 1
  for _, lane in ipairs(laneList) do hasOrphans = hasOrphans or preferredOf(lane.name) == ownWorker end
  toWake.hasOrphans = hasOrphans
end
toWake.passesOn = wish == 'leave' and suspectIndex.count > 0
if toWake.isFreed or toWake.hasOrphans or toWake.passesOn then readGroups() end
if (stopped and stopped ~= 'gate') or next(fullNames) then readOwnGroup() end
-- Wake the preferred workers themselves: a generic wake-up might reach a worker that may not run these jobs.
if toWake.isFreed and preferredIndex.count > 0 then
  -- @include wake/preferred.lua
  toWake.preferred = preferredOfDue
end

if stopsLooking then
  wasListed = redis.call('ZSCORE', sleepersKey, session)
  if wasListed or settlements[1] or returning[1] or lookAgain or nextCursor ~= '' then readOwnGroup() end
end
