-- Looks after recurrences: arms what should be armed and is not.
-- `looked`: `over`, ids of those that ended a day ago and are to be forgotten.
-- @takes base, jobsKey, now, digits, laneOf, findWaiting, hasBegun, noteBegun, parseState, readEntries, passTo, armAt, armNext, isShort, isNewer
-- @gives looked, lookAfter, needsOf
-- How long an ended one stays listed.
local LISTED_MS = 86400000
looked = { over = {} }

-- Of these ids in their lanes, those that do not stand there.
local function missingInLanes(byLane, isLost)
  for lane, ids in pairs(byLane) do
    for i, due in ipairs(redis.call('ZMSCORE', base .. 'lane:' .. lane, unpack(ids))) do
      if not due then isLost[ids[i]] = true end
    end
  end
end

-- Of these, the ones whose armed jobs are not in their lanes: id of the job -> its envelope, or true where that is gone.
local function lostAmong(ids)
  local byLane, isLost, envelopes = {}, {}, {}
  if not ids[1] then return isLost end
  for i, envelope in ipairs(redis.call('HMGET', jobsKey, unpack(ids))) do
    local lane = envelope and laneOf(envelope)
    if not lane or lane == '' then
      isLost[ids[i]] = true
    else
      envelopes[ids[i]] = envelope
      byLane[lane] = byLane[lane] or {}
      table.insert(byLane[lane], ids[i])
    end
  end
  missingInLanes(byLane, isLost)
  for id in pairs(isLost) do isLost[id] = envelopes[id] or true end
  return isLost
end

-- `envelope`: of the armed job, true where there is none.
local function mend(entry, envelope)
  local at = entry.state.armed
  local id = entry.id .. '@' .. digits(at)
  if envelope ~= true and findWaiting(id, envelope) then return end
  if hasBegun(id, envelope) then
    noteBegun(entry, at)
    return armNext(entry)
  end
  -- It is there in part, so it does not count as another job of this instant.
  if envelope ~= true then entry.old = { id = id } end
  armAt(entry, at)
end

-- Of those that ended a day ago, the ones to be forgotten. A declared one would begin anew with the next declaration, and one that ended by its
-- limit with the next upsert, and its limit with it: these stay, unlisted, until somebody changes or removes them.
local function forgettableAmong(ids)
  local forgettable = {}
  for _, entry in ipairs(readEntries(ids)) do
    local rule, state = entry.rule, entry.state
    local isAtLimit = rule and state and rule.limit > 0 and state.count >= rule.limit
    if not rule or rule.owner == '' and not isAtLimit then forgettable[#forgettable + 1] = entry.id end
  end
  return forgettable
end

-- `states`: id -> state as it is stored. Answers those whose instants may have to be reckoned.
function lookAfter(states, zones)
  local armedIds, armed, ids, seen = {}, {}, {}, {}
  for id, text in pairs(states) do
    local state = parseState(text)
    if not state or state.state == 'a' and state.armed == 0 then
      ids[#ids + 1] = id
    elseif state.state == 'a' then
      local jobId = id .. '@' .. digits(state.armed)
      armedIds[#armedIds + 1], armed[#armed + 1] = jobId, id
      -- One whose rule is reckoned by a process.
      if state.list ~= '-' and (state.zones ~= zones or isShort({ rule = { everyMs = 0 }, state = state })) then
        ids[#ids + 1], seen[id] = id, true
      end
    elseif state.state == 'e' and state.changed <= now - LISTED_MS then
      looked.over[#looked.over + 1] = id
    end
  end
  looked.over = forgettableAmong(looked.over)
  local lost = lostAmong(armedIds)
  for i, jobId in ipairs(armedIds) do
    if lost[jobId] and not seen[armed[i]] then ids[#ids + 1] = armed[i] end
  end
  local entries = readEntries(ids)
  for _, entry in ipairs(entries) do
    local state = entry.rule and entry.state
    if state and state.armed == 0 then
      -- Whoever cancels an armed one leaves the list as it is.
      passTo(entry, state.passed)
      armNext(entry)
    elseif state then
      local envelope = lost[entry.id .. '@' .. digits(state.armed)]
      if envelope then mend(entry, envelope) end
    end
  end
  return entries
end

-- Six for each of these whose instants are to be reckoned.
function needsOf(entries, zones)
  local needs = {}
  for _, entry in ipairs(entries) do
    local rule, state = entry.rule, entry.state
    if rule and state and rule.everyMs == 0 and state.state == 'a' then
      local how, from, wall = nil, nil, 0
      if isNewer(zones, state.zones) then
        how, from, wall = 'zones', state.passed, state.wall
      elseif isShort(entry) then
        how, from = 'more', tonumber(string.match(' ' .. state.list, '.* (%d+)') or state.passed)
      end
      if how then
        for _, field in ipairs({ entry.id, rule.version, how, digits(from), digits(wall), rule.ruleText }) do needs[#needs + 1] = field end
      end
    end
  end
  return needs
end
