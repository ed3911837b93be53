-- What this turn leaves to do: for this worker, once it has claimed, and for others that it may have to tell.
-- A pull stands among the sleepers only while somebody waits for it: it goes once it has claimed something, or when nobody
-- waits any more.
goes = goes or (ARGV[14] == 'wait' and fit[1] ~= nil)
hears = hears and not goes

-- A suspect that was turned away is not taken.
if suspect == 'taken' and not fit[1] then suspect = 'reserved' end
-- A process that is kept for a suspect has room for nothing else. It has room for the suspect where only the gate holds that up.
local roomAfter = suspect == 'reserved' and wish == 'reserve' and 0 or room
-- Other due jobs are left to others of the group.
if roomAfter < room or suspect == 'taken' then stopped = 'room' end
for _, job in ipairs(fit) do roomAfter = roomAfter - job.weight end
-- Pulls and relays come and go, and so do those who have few places (`LEAST_JOBS` in worker/capacity/turn-share.ts): nobody's second
-- turn is to wait for them.
local filledRoom = #fit >= 16 and roomAfter <= 0 and relayTo == '' and not string.find(ARGV[14], '^%l')
-- Another worker claims as fast, and keeps Redis busy between the turns of this one.
local hasCompany = lastToFill ~= '' and lastToFill ~= worker
-- The longest that it may sleep after this turn, false where it will not. A third of a lease at the most: then leases taken meanwhile
-- are known before they run out, and the queue counts as served.
local sleepUntil = roomAfter > 0 and (not stopped or stopped == 'gate') and goOnFrom == ''
  and math.floor(now + math.min(tonumber(ARGV[10]), leaseMs / 3))
local otherSleepers = {}
if roomAfter > 0 and (not stopped or stopped == 'gate') then
  local found = redis.call('ZRANGE', sleepersKey, digits(now - ON_ITS_WAY_MS), '+inf', 'BYSCORE', 'LIMIT', 0, 3, 'WITHSCORES')
  for i = 1, #found, 2 do
    if found[i] ~= worker then otherSleepers[#otherSleepers + 1] = tonumber(found[i + 1]) end
  end
end
-- This turn made room for jobs that the limit over all processes has kept from everybody.
local activeAfter = active - leaving + (relayTo == '' and #fit or 0) + (offers and offers.held or 0)
local freed = globalConcurrency > 0 and active + offers.counted >= globalConcurrency and activeAfter < globalConcurrency
-- Who leaves for good leaves jobs behind that would have waited for it.
local orphans = presence == 'gone' and hasPreferred and redis.call('EXISTS', base .. 'levels:' .. ownName) == 1
for _, lane in ipairs(presence == 'gone' and laneList or {}) do
  orphans = orphans or preferredOf(lane.name) == ownName
end
-- This process is no longer kept for suspects, and others wait for one that is.
local passesOn = wish == 'leave' and suspectIndex.count > 0
if freed or orphans or passesOn then readGroups(group, worker) end
if (stopped and stopped ~= 'gate') or next(fullNames) then readOwnGroup(group, worker) end
-- Wake the preferred workers themselves: a generic wake-up might reach a worker that may not run these jobs.
local preferredNow = freed and hasPreferred and preferredOfDue() or {}

-- When a pull has gone, another worker of its group looks when this one would have; else what is due next waited for the deputy.
local wasListed = goes and redis.call('ZSCORE', sleepersKey, worker)
if goes and (wasListed or settlements[1] or returning[1] or lookAgain or goOnFrom ~= '') then readOwnGroup(group, worker) end
