-- When this worker looks again. One sleeper of a group looks at the next event (a job becomes due, a lease runs out),
-- a deputy half a second later, all others when they would have anyway.
-- How long a sleeper that is past its time stays listed, and a group's list after its last sleeper.
local FORGOTTEN_SLEEPER_MS, FORGOTTEN_GROUP_MS = 60000, 86400000

local room = limit - #fit
local otherSleepers = {}
if room > 0 and not more then
  local found = redis.call('ZRANGE', sleepersKey, digits(now - ON_ITS_WAY_MS), '+inf', 'BYSCORE', 'LIMIT', 0, 3, 'WITHSCORES')
  for i = 1, #found, 2 do
    if found[i] ~= worker then otherSleepers[#otherSleepers + 1] = tonumber(found[i + 1]) end
  end
end

-- Due lanes that were stepped over stand first in their level, so the next due time is looked for behind them.
local function nextDue()
  if not levelCount then levelCount = redis.call('ZCARD', levelsKey) end
  if levelCount <= 0 then return math.huge end
  local first = tonumber(redis.call('ZRANGE', levelsKey, 0, 0, 'WITHSCORES')[2])
  if first > now then return first end
  local earliest = math.huge
  for _, priority in ipairs(redis.call('ZRANGE', levelsKey, 0, -1)) do
    local head = redis.call('ZRANGE', base .. 'heads:' .. priority, '(' .. digits(now), '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
    if head[2] then earliest = math.min(earliest, tonumber(head[2])) end
  end
  return earliest
end

local function sleep()
  if room <= 0 then return 0 end
  -- Jobs that this turn put back may be due already; whoever cut its claim short has more to fetch.
  if more or returning[1] or lookAgain or goOnFrom ~= '' then return now end
  local event = nextDue()
  if firstLeaseEnd then
    event = math.min(event, math.max(tonumber(firstLeaseEnd), recoverFrom, now + 1))
  end
  local lookAt = event
  if otherSleepers[1] and otherSleepers[1] <= event then
    lookAt = event + DEPUTY_MS
    if otherSleepers[2] and otherSleepers[2] <= lookAt then lookAt = math.huge end
  end
  -- A third of a lease at the most: then leases taken meanwhile are known before they run out, and the queue counts as served.
  lookAt = math.floor(math.min(lookAt, now + maxSleepMs, now + leaseMs / 3))
  -- A look in several turns may have missed what became due in front of it.
  if lookFrom ~= '' then lookAt = math.min(lookAt, now + DEPUTY_MS) end
  if hears then
    redis.call('ZADD', sleepersKey, digits(lookAt), worker)
    redis.call('ZREMRANGEBYSCORE', sleepersKey, '-inf', digits(now - FORGOTTEN_SLEEPER_MS))
    redis.call('PEXPIRE', sleepersKey, FORGOTTEN_GROUP_MS)
  end
  return lookAt
end

local function wakeOthers()
  for _, lane in ipairs(laneList) do
    -- Where this worker goes on looking by itself, nobody else of its group needs to.
    if lane.moved and lane.added[1] then wake(nameOf(lane.name), tonumber(lane.headDue), room > 0) end
  end
  if more and groups then
    for _, g in ipairs(groups) do
      if g.own then wakeGroup(g, now) end
    end
  end
end
