-- Arms occurrences: gives the next instant of a recurrence its job. A script changes the states of entries (see recur/next.lua), asks
-- with `armNext` or `armAt` for their jobs, and then calls `resolveArmed`, the end of its read phase for them, and `writeArmed`. All are
-- read, and all are written, at once: a batch costs a few commands.
-- `changedEntries`: those whose states are to be written. `shortIds`: recurrences whose instants run short.
-- @needs parts/clock.lua, parts/route.lua, parts/enter.lua, parts/lanes.lua, parts/tag.lua, recur/next.lua, recur/record.lua
-- @takes base, jobsKey, usedIdsKey, completedKey, resultsKey, statsKey, counted
-- @gives shortIds, changedEntries, noteChanged, armAt, armNext, resolveArmed, writeArmed
shortIds, changedEntries = {}, {}
local arming, fields, armedIds, isDue, lanesByRoute = {}, {}, {}, false, {}
local endedKey, endingsKey = base .. 'ended', base .. 'endings'

-- Its state is to be written.
function noteChanged(entry)
  if entry.isChanged then return end
  entry.isChanged = true
  changedEntries[#changedEntries + 1] = entry
end

-- Its job for this instant is to be made. `due`: when it is due, if not by the rule.
function armAt(entry, at, due)
  entry.target, entry.targetDue = at, due
  entry.state.armed, entry.state.blockedDue = 0, 0
  arming[#arming + 1] = entry
  noteChanged(entry)
end

-- The instant after `reached`, if the rule has one and may still have occurrences.
function armNext(entry)
  local state = entry.state
  local at = (entry.rule.limit == 0 or state.count < entry.rule.limit) and nextAfter(entry, state.reached)
  -- Jitter ends before the instant that follows: that has to be known as well.
  if at and entry.rule.jitterMs > 0 and nextAfter(entry, at) == false then at = false end
  noteChanged(entry)
  state.armed, state.blockedDue = 0, 0
  if at then return armAt(entry, at) end
  if at == nil or entry.rule.limit > 0 and state.count >= entry.rule.limit then state.state, state.changed = 'e', now end
end

local function isRemembered(forgetAt)
  return tonumber(forgetAt or 0) > now
end

-- Instants whose jobs are there already, made beside the rule, or have ended and are remembered, are skipped: else they would run twice.
local function resolveKnown()
  local ids = {}
  for i, entry in ipairs(arming) do ids[i] = entry.id .. '@' .. digits(entry.target) end
  local there, forgetAt = redis.call('HMGET', jobsKey, unpack(ids)), redis.call('ZMSCORE', usedIdsKey, unpack(ids))
  for i, entry in ipairs(arming) do
    local id, isKnown = ids[i], there[i] or isRemembered(forgetAt[i])
    while isKnown and not (entry.old and entry.old.id == id) do
      advanceTo(entry, entry.target)
      entry.target, entry.targetDue = nextAfter(entry, entry.target), nil
      entry.state.blockedDue = 0
      id = entry.target and entry.id .. '@' .. digits(entry.target)
      isKnown = id and (redis.call('HEXISTS', jobsKey, id) == 1 or isRemembered(redis.call('ZSCORE', usedIdsKey, id)))
    end
    entry.targetId = id
    if entry.target == nil then entry.state.state, entry.state.changed = 'e', now end
  end
end

local function admit(entry)
  local rule, at, id, due = entry.rule, entry.target, entry.targetId, entry.targetDue
  if not due then
    due = at
    if rule.jitterMs > 0 then
      local following = nextAfter(entry, at)
      if not isMissedAt(entry, at, following) then due = jittered(entry, at, following) end
    end
  end
  local lane = lanesByRoute[rule.route]
  if not lane then
    lane = enterLane(laneOfRoute(rule.route))
    lanesByRoute[rule.route] = lane
  end
  local tags = string.match(rule.rest, '^ %l*(\t[^\n]*)')
  entry.targetLane, entry.targetTags = lane.name, tags
  addToLane(lane, id, due)
  if due <= now then isDue = true end
  if tags then tagJob(id, tags) end
  fields[#fields + 1] = id
  fields[#fields + 1] = rule.route .. '\n' .. digits(now) .. rule.rest
  armedIds[#armedIds + 1] = id
  -- A job that is only made anew has been counted before.
  if not (entry.old and entry.old.id == id) then counted.scheduled = (counted.scheduled or 0) + 1 end
  entry.state.armed = at
end

-- Whether something may be kept under ids that are armed.
local function keepsEnded()
  return redis.call('EXISTS', completedKey, endedKey) > 0
end

-- Keys of another type stop the script here: once `jobs` is written, the armed job would be left without a lane.
local function refuseOtherKinds()
  redis.call('HLEN', statsKey)
  if not keepsEnded() then return end
  redis.call('ZCARD', completedKey)
  redis.call('HLEN', resultsKey)
  redis.call('ZCARD', endedKey)
  redis.call('HLEN', endingsKey)
end

-- Answers whether one is due already.
function resolveArmed()
  if arming[1] then resolveKnown() end
  for _, entry in ipairs(arming) do
    if entry.target then admit(entry) end
  end
  if armedIds[1] then refuseOtherKinds() end
  for _, entry in ipairs(changedEntries) do
    if isShort(entry) then shortIds[#shortIds + 1] = entry.id end
  end
  return isDue
end

-- The lanes are closed, and what was counted is written, by the script.
function writeArmed()
  readLevels()
  if armedIds[1] then
    redis.call('HSET', jobsKey, unpack(fields))
    writeTagged()
    -- Each id belongs to the new job now: a completed one may be kept for longer than its id is remembered.
    if keepsEnded() then
      redis.call('ZREM', completedKey, unpack(armedIds))
      redis.call('HDEL', resultsKey, unpack(armedIds))
      local hadEnded = redis.call('ZREM', endedKey, unpack(armedIds)) > 0
      if hadEnded then redis.call('HDEL', endingsKey, unpack(armedIds)) end
    end
  end
  local states = {}
  for _, entry in ipairs(changedEntries) do
    if not entry.isGone then
      states[#states + 1] = entry.id
      states[#states + 1] = formatState(entry.state)
    end
  end
  if states[1] then redis.call('HSET', base .. 'timetable', unpack(states)) end
end
