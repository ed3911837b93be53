-- When this session looks again. One sleeper of a group looks at the next event (a job becomes due, a lease runs out), a deputy half a
-- second later, all others when they would have anyway. A session that stops looking leaves its time to another one of its group.
-- `lookAt`: 0 for when there is capacity. `passOnAt`: when another session has to look in the place of this one; math.huge for never.
-- @takes session, group, presence, handlers, limit, limitAfter, stopsLooking, hears, wasListed, sleepUntil, otherSleepers, stopped, cursor, nextCursor, lookAgain, returning, fit, mayPass, opensAt, offers, awaited, OFFER_MS, DEPUTY_MS, firstLeaseEnd, grace, base, sleepersKey, stealAfterMs, now, digits, openIndex, COMMON, PREFERRED, SUSPECTS, preferredIndex, suspectIndex, ownWorker, isHere, preferredOf
-- @gives lookAt, passOnAt
lookAt, passOnAt = 0, math.huge
if stopped == 'size' or stopped == 'limit' then
  -- A session of the group has been woken for the jobs that are left. This one looks at once where there is
  -- more to fetch. Where the best job does not fit, there is capacity for that job once something that runs here has ended. But others may take it, or a better one come
  -- that does fit; nobody tells a session of that which does not stand among the sleepers.
  if limitAfter > 0 then
    local hasMore = stopped == 'size' or returning[1] or lookAgain or nextCursor ~= ''
    lookAt = hasMore and now or now + DEPUTY_MS
  end
elseif returning[1] or lookAgain or nextCursor ~= '' then
  -- Jobs that this turn put back may be due already; where a look was cut short, there may be more to fetch.
  if limitAfter > 0 then lookAt = now end
  if stopsLooking then passOnAt = now end
elseif limitAfter > 0 or wasListed then
  -- How long a sleeper that is past its time stays listed, and a group's list after its last sleeper.
  local FORGOTTEN_SLEEPER_MS, FORGOTTEN_GROUP_MS = 60000, 86400000
  local function earliestOf(index)
    return index.count > 0 and tonumber(redis.call('ZRANGE', index.key, 0, 0, 'WITHSCORES')[2]) or math.huge
  end

  -- Due lanes that were passed over stand first in their level, so the next due time is looked for behind them.
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

  -- When the next job may be claimed by a session like this one.
  local event
  local isGateShut = mayPass <= #fit
  if isGateShut or limit == 0 then
    event = math.min(earliestOf(openIndex(COMMON)), earliestOf(preferredIndex), earliestOf(suspectIndex))
    -- Whatever is due waits for the gate. Without a limit this turn has not looked: what became due meanwhile may still be there.
    if isGateShut then event = math.max(opensAt, event) end
  else
    event = nextDue(COMMON)
    if preferredIndex.count > 0 then
      -- How many heads of jobs that prefer others are looked at for the first one that may be stolen.
      local STEALS_LOOKED_AT = 16
      -- When the first job of a level that prefers another worker may be stolen.
      local function nextSteal(priority)
        local earliest, from = math.huge, '(' .. digits(now - stealAfterMs)
        local heads = redis.call('ZRANGE', base .. 'heads:' .. priority .. PREFERRED, from, '+inf', 'BYSCORE', 'LIMIT', 0, STEALS_LOOKED_AT, 'WITHSCORES')
        for i = 1, #heads, 2 do
          local due, preferred = tonumber(heads[i + 1]), preferredOf(string.match(heads[i], '\t(.*)$'))
          local at = isHere(preferred) and due + stealAfterMs or due
          if preferred ~= ownWorker and at > now then earliest = math.min(earliest, at) end
        end
        return earliest
      end
      for _, priority in ipairs(redis.call('ZRANGE', preferredIndex.key, 0, -1)) do event = math.min(event, nextSteal(priority)) end
    end
    if suspectIndex.count > 0 then event = math.min(event, nextDue(SUSPECTS)) end
  end
  if wasListed then passOnAt = event end

  if limitAfter > 0 then
    if firstLeaseEnd then event = math.min(event, math.max(tonumber(firstLeaseEnd), grace.recoverFrom, now + 1)) end
    lookAt = event
    -- The session that left a place for another looks when that place is free again, whatever other sleepers do.
    local isKept = offers and offers.held > 0 and isGateShut
    if otherSleepers[1] and otherSleepers[1] <= event and not isKept then
      lookAt = event + DEPUTY_MS
      if otherSleepers[2] and otherSleepers[2] <= lookAt then lookAt = math.huge end
    end
    -- Jobs that prefer this worker are left to nobody: the others may not take them yet. Where such jobs wait for a gate that opens at a
    -- known time, this one looks half a second after it: one of all sleepers looks when it opens, and may leave room. Else whoever opens
    -- the gate tells the workers whose jobs are due.
    if preferredIndex.count > 0 then
      local own, at = ':' .. ownWorker, nil
      if not isGateShut or opensAt == math.huge then
        at = nextDue(own)
      else
        local first = earliestOf(openIndex(own))
        at = first > opensAt and first or opensAt + DEPUTY_MS
      end
      lookAt = math.min(lookAt, at)
    end
    lookAt = math.min(lookAt, sleepUntil)
    if awaited then lookAt = math.min(lookAt, math.floor(now + OFFER_MS / 2)) end
    -- A look in several turns may have missed what became due in front of it.
    if cursor ~= '' then lookAt = math.min(lookAt, now + DEPUTY_MS) end

    if hears then
      redis.call('ZADD', sleepersKey, digits(lookAt), session)
      -- Not in every look: those past their time are only in nobody's way.
      if presence == 'here' then redis.call('ZREMRANGEBYSCORE', sleepersKey, '-inf', digits(now - FORGOTTEN_SLEEPER_MS)) end
      redis.call('PEXPIRE', sleepersKey, FORGOTTEN_GROUP_MS)
      -- So that nobody tells this sleeper of a job that it cannot run.
      if string.sub(group, -1) == 'l' then
        local full = {}
        for name, handler in pairs(handlers or {}) do
          if handler.free <= 0 then full[#full + 1] = name end
        end
        if full[1] then
          redis.call('SET', base .. 'full:' .. session, '\n' .. table.concat(full, '\n') .. '\n', 'PX', FORGOTTEN_SLEEPER_MS)
        else
          redis.call('DEL', base .. 'full:' .. session)
        end
      end
    end
  end
end
