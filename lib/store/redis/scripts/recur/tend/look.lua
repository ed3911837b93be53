-- Looks after recurrences: arms what should be armed and is not.
-- `looked`: `over`, ids of those that are to be forgotten, as they ended a day ago or have no record; `damaged`, those whose records nobody
-- can read, told for the first time.
-- @needs parts/clock.lua, parts/envelope.lua, parts/waiting.lua, recur/arm.lua, recur/has-begun.lua, recur/listed.lua, recur/next.lua
-- @needs recur/read.lua, recur/record.lua, recur/tend/zones.lua
-- @takes base, jobsKey
-- @gives looked, lookAfter, needsOf
-- Jobs that lie in none of so many lanes are looked for by their envelopes; so are all, where one lane holds too few.
local LANES_TRIED, MOST_LEFT = 4, 7 / 8
-- In the place of the version of the time-zone data, once the damage has been told.
local TOLD = 'unreadable'
looked = { over = {}, damaged = {} }

-- Adds those of these jobs that do not stand in the lanes that their envelopes name: id -> envelope.
local function addMissing(isLost, ids)
  local byLane, envelopes = {}, {}
  for i, envelope in ipairs(redis.call('HMGET', jobsKey, unpack(ids))) do
    local lane = laneOf(envelope)
    envelopes[i] = envelope
    byLane[lane] = byLane[lane] or {}
    table.insert(byLane[lane], i)
  end
  for lane, places in pairs(byLane) do
    local inLane = {}
    for i, place in ipairs(places) do inLane[i] = ids[place] end
    for i, due in ipairs(redis.call('ZMSCORE', base .. 'lane:' .. lane, unpack(inLane))) do
      if not due then isLost[inLane[i]] = envelopes[places[i]] end
    end
  end
end

-- Of these jobs, those that do not wait in their lanes: id -> envelope, or true where that is gone. Most recurrences of a queue share a few
-- lanes. So one envelope tells where many of them lie, and the others, which may be large, are not read.
local function lostAmong(ids)
  local isLost, left = {}, {}
  for _, id in ipairs(ids) do
    if redis.call('HEXISTS', jobsKey, id) == 1 then left[#left + 1] = id else isLost[id] = true end
  end
  for _ = 1, LANES_TRIED do
    if not left[1] then break end
    local elsewhere, first = {}, left[1]
    local lane = laneOf(redis.call('HGET', jobsKey, first))
    for i, due in ipairs(redis.call('ZMSCORE', base .. 'lane:' .. lane, unpack(left))) do
      if not due then elsewhere[#elsewhere + 1] = left[i] end
    end
    -- Few lie there. Or the first one is lost, and others of its lane may be as well.
    local isHelpful = #elsewhere < #left * MOST_LEFT and elsewhere[1] ~= first
    left = elsewhere
    if not isHelpful then break end
  end
  if left[1] then addMissing(isLost, left) end
  return isLost
end

-- `envelope`: of the armed job, true where there is none.
local function mend(entry, envelope)
  local at = entry.state.armed
  local id = entry.id .. '@' .. digits(at)
  if envelope ~= true and findWaiting(id, envelope) then return end
  if hasBegun(id, envelope ~= true) then
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

-- Whether the instants of an armed one, by its state as it is stored, are known for long, or are reckoned in Redis. So it is of most; to take
-- each state apart costs more than all else that is done for it here.
local function isLong(text, zones)
  if string.sub(text, -2) == '|-' then return true end
  local _, bar = string.find(text, ' ' .. zones .. '|', 1, true)
  local third = bar and string.match(text, '^%S+ %S+ (%d+)', bar + 1)
  return third and tonumber(third) >= now + LEAST_AHEAD_MS
end

-- `states`: id -> state as it is stored. Answers those whose instants may have to be reckoned.
function lookAfter(states, zones)
  local armedIds, armed, ids, seen, ended = {}, {}, {}, {}, {}
  for id, text in pairs(states) do
    local at = armedIn(text)
    if at then
      armedIds[#armedIds + 1], armed[#armed + 1] = id .. '@' .. at, id
    end
    if not (at and isLong(text, zones)) then
      local state = parseState(text)
      if not state or state.state == 'a' and (state.armed == 0 or state.list ~= '-' and (state.zones ~= zones or isShort({ rule = { everyMs = 0 }, state = state }))) then
        ids[#ids + 1], seen[id] = id, true
      elseif isLongEnded(state.state, state.changed) then
        ended[#ended + 1] = id
      end
    end
  end
  for _, id in ipairs(forgettableAmong(ended)) do looked.over[#looked.over + 1] = id end
  local lost = lostAmong(armedIds)
  for i, jobId in ipairs(armedIds) do
    if lost[jobId] and not seen[armed[i]] then ids[#ids + 1] = armed[i] end
  end
  local entries = readEntries(ids)
  for _, entry in ipairs(entries) do
    local state = entry.state
    if not entry.text then
      looked.over[#looked.over + 1] = entry.id
    elseif not entry.rule then
      -- Somebody has damaged the record, or a later release has written it. It stays, and whoever upserts it keeps the state.
      if state and state.zones ~= TOLD then
        state.zones = TOLD
        looked.damaged[#looked.damaged + 1] = entry
      end
    elseif not state then
      -- Somebody has damaged the state: whoever declares or upserts it begins anew.
    elseif state.armed == 0 then
      -- Whoever cancels an armed one leaves the list as it is.
      advanceTo(entry, state.reached)
      armNext(entry)
    else
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
        how, from, wall = 'zones', state.reached, state.wall
      elseif isShort(entry) then
        how, from = 'more', lastKnown(state.list) or state.reached
      end
      if how then
        for _, field in ipairs({ entry.id, rule.version, how, digits(from), digits(wall), rule.ruleText }) do needs[#needs + 1] = field end
      end
    end
  end
  return needs
end
