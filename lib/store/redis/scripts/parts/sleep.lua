-- When this worker looks again. One sleeper of a group looks at the next event (a job becomes due, a lease runs out),
-- a deputy half a second later, all others when they would have anyway.
-- `lookAt`: 0 for when there is room.
local lookAt, nextEvent, firstDue = 0, nil, nil
if roomAfter > 0 or goes then
  -- How long a sleeper that is past its time stays listed, and a group's list after its last sleeper.
  local FORGOTTEN_SLEEPER_MS, FORGOTTEN_GROUP_MS = 60000, 86400000
  -- How many heads of jobs that prefer others are looked at for the first one that may be stolen.
  local STEALS_LOOKED_AT = 16

  local function earliestOf(index)
    return index.count > 0 and tonumber(redis.call('ZRANGE', index.key, 0, 0, 'WITHSCORES')[2]) or math.huge
  end

  -- The earliest due time of all, be it past.
  function firstDue()
    return math.min(earliestOf(openIndex(COMMON)), earliestOf(preferredIndex), earliestOf(suspectIndex))
  end

  -- Due lanes that were stepped over stand first in their level, so the next due time is looked for behind them.
  local function nextDue(ending)
    local index = openIndex(ending)
    local first = earliestOf(index)
    if first > now then return first end
    local earliest = math.huge
    for _, priority in ipairs(redis.call('ZRANGE', index.key, 0, -1)) do
      local head = redis.call('ZRANGE', base .. 'heads:' .. priority .. ending, '(' .. digits(now), '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
      if head[2] then earliest = math.min(earliest, tonumber(head[2])) end
    end
    return earliest
  end

  -- When the first job that prefers another worker may be stolen.
  local function nextSteal()
    local earliest = math.huge
    for _, priority in ipairs(redis.call('ZRANGE', preferredIndex.key, 0, -1)) do
      local from = '(' .. digits(now - stealAfterMs)
      local heads = redis.call('ZRANGE', base .. 'heads:' .. priority .. PREFERRED, from, '+inf', 'BYSCORE', 'LIMIT', 0, STEALS_LOOKED_AT, 'WITHSCORES')
      for i = 1, #heads, 2 do
        local due, preferred = tonumber(heads[i + 1]), preferredOf(string.match(heads[i], '\t(.*)$'))
        local at = isHere(preferred) and due + stealAfterMs or due
        if preferred ~= ownName and at > now then earliest = math.min(earliest, at) end
      end
    end
    return earliest
  end

  function nextEvent()
    -- Whatever is due waits for the gate.
    if gateRoom <= #fit then return math.max(gateUntil, firstDue()) end
    local event = nextDue(COMMON)
    if preferredIndex.count > 0 then event = math.min(event, nextSteal()) end
    if suspectIndex.count > 0 then event = math.min(event, nextDue(SUSPECTS)) end
    return event
  end

  -- When the first job is due that prefers this worker. Where such jobs wait for a gate that opens at a known time, half a second
  -- after it: one of all sleepers looks when it opens, and may leave room. Else who opens the gate tells those whose jobs are due.
  local function nextOwn()
    if preferredIndex.count == 0 then return math.huge end
    local own = ':' .. ownName
    if gateRoom > #fit or gateUntil == math.huge then return nextDue(own) end
    local first = earliestOf(openIndex(own))
    return first > gateUntil and first or gateUntil + DEPUTY_MS
  end

  -- So that nobody tells this sleeper of what it cannot run.
  local function noteFull()
    if string.sub(group, -1) ~= 'l' then return end
    local full = {}
    for name, handler in pairs(handlers or {}) do
      if handler.free <= 0 then full[#full + 1] = name end
    end
    if full[1] then
      redis.call('SET', base .. 'full:' .. worker, '\n' .. table.concat(full, '\n') .. '\n', 'PX', FORGOTTEN_SLEEPER_MS)
    else
      redis.call('DEL', base .. 'full:' .. worker)
    end
  end

  local function nextLook()
    local event = nextEvent()
    if firstLeaseEnd then
      event = math.min(event, math.max(tonumber(firstLeaseEnd), recoverFrom, now + 1))
    end
    local at = event
    -- The worker that left a place for another looks when that place is free again, whatever other sleepers do.
    local isKept = offers and offers.held > 0 and gateRoom <= #fit
    if otherSleepers[1] and otherSleepers[1] <= event and not isKept then
      at = event + DEPUTY_MS
      if otherSleepers[2] and otherSleepers[2] <= at then at = math.huge end
    end
    -- That is left to nobody: the others may not take it yet.
    at = math.min(at, nextOwn())
    at = math.min(at, sleepUntil)
    if awaited then at = math.min(at, math.floor(now + OFFER_MS / 2)) end
    -- A look in several turns may have missed what became due in front of it.
    return lookFrom == '' and at or math.min(at, now + DEPUTY_MS)
  end

  if roomAfter > 0 then
    if stopped == 'bytes' or returning[1] or lookAgain or goOnFrom ~= '' then
      -- Jobs that this turn put back may be due already; whoever cut its claim short has more to fetch.
      lookAt = now
    elseif stopped == 'room' then
      -- The best job does not fit: there is room for it once something that runs here has ended. But others may take it, or a
      -- better one come that does fit; of that nobody is told who does not stand among the sleepers.
      lookAt = now + DEPUTY_MS
    else
      lookAt = nextLook()
      if hears then
        redis.call('ZADD', sleepersKey, digits(lookAt), worker)
        -- Not in every look: those past their time are only in nobody's way.
        if presence == 'here' then redis.call('ZREMRANGEBYSCORE', sleepersKey, '-inf', digits(now - FORGOTTEN_SLEEPER_MS)) end
        redis.call('PEXPIRE', sleepersKey, FORGOTTEN_GROUP_MS)
        noteFull()
      end
    end
  end
end
