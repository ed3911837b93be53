-- Writes the turns of units. The starts of this script move their units on. A group leaves the turns where it has no due job any more, and
-- where it may start nothing more: then it is held.
-- `grouping.prepareTurns` comes before lanes are closed, and says which of them are seen; `grouping.writeTurns` comes when their jobs and heads
-- are written. Lanes of units are those of turn/claim/units.lua, `openedLanes` those of parts/lanes.lua.
-- @needs parts/clock.lua, parts/lanes.lua
-- @takes base, fit, grouping, stateOf, leaveTurns
local startedStates = {}

-- With all its digits, so that it is read as the same number.
local function turnText(turn)
  return turn % 1 == 0 and digits(turn) or string.format('%.17g', turn)
end

local function isDue(lane)
  local opened = openedLanes[lane.lane]
  if not opened then return lane.front ~= false end
  return opened.headId and tonumber(opened.headDue) <= now
end

-- Makes a lane seen. If the script has not opened the lane, its head moves from one level to the other here.
local function see(priority, lane)
  local opened = openedLanes[lane.lane]
  if opened then
    opened.isSeen, opened.isReindexed = true, true
  else
    local unseen, seen, head = openLevel(priority, GROUPED), openLevel(priority .. SEEN, GROUPED), lane.id .. '\t' .. lane.lane
    unseen.removed[#unseen.removed + 1] = head
    seen.added[#seen.added + 1] = lane.dueText
    seen.added[#seen.added + 1] = head
  end
end

function grouping.prepareTurns()
  for _, job in ipairs(fit) do
    local group = job.front.group
    local state = group and stateOf(group)
    if state and state.starts then
      state.starts, state.startsSuspect = state.starts + 1, state.startsSuspect or not job.unit
      startedStates[group] = state
    end
    if job.unit then job.unit.starts = job.unit.starts + 1 end
    if job.commonOf then job.commonOf.commonStarts = (job.commonOf.commonStarts or 0) + 1 end
  end
  local taken = {}
  for _, units in ipairs(grouping.taken) do taken[units.priority] = units.ofGroup end
  for _, lane in ipairs(laneList) do
    if lane.takesTurns and lane.added[1] then
      -- This turn puts a job back into the lane. If the group has a turn at this priority, it keeps that turn.
      local priority, name = string.match(lane.name, '^(%d+):[^:]*:(.*)$')
      local unit = taken[priority] and taken[priority][lane.group]
      if unit and not unit.lanes[name] then unit.lanes[name] = { lane = lane.name, name = name, group = lane.group } end
    end
  end
  for _, units in ipairs(grouping.taken) do
    local priority = units.priority
    openLevel(priority .. SEEN, GROUPED)
    for _, lane in ipairs(units.joined) do see(priority, lane) end
    for _, unit in ipairs(units.all) do
      -- The log of its starts is put right, or it would keep the group held until the clock has caught up.
      if unit.state and unit.state.isAhead then startedStates[unit.group] = unit.state end
      for _, lane in pairs(unit.lanes) do
        local opened = openedLanes[lane.lane]
        if opened then
          opened.isSeen = true
        elseif lane.front == false then
          -- No job of the lane is due: somebody has moved its jobs, or the clock went back.
          opened = openLane(lane.lane)
          opened.isSeen, opened.isReindexed = true, true
        end
      end
    end
  end
end

-- Until when a group may start nothing more after this turn; nil where it may.
local function heldUntil(state)
  if not state or not state.starts or state.free > state.starts then return nil end
  if state.starts == 0 then return state.opensAt end
  return state.places > state.starts and state.rate.opensAt or math.huge
end

-- What is to be written in `turns` under each name of a level: `joined` and `moved`, turns and groups; `gone`, groups; `isNew` where the name is to
-- be noted in `turning`, `isEmpty` where it may be taken off.
local function changesOf(units)
  local changes = {}
  for _, name in ipairs(units.names) do changes[name] = { joined = {}, moved = {}, gone = {} } end
  for _, stream in ipairs(units.streams) do
    local change = changes[stream.name]
    change.isEmpty, change.gone = stream.isEmpty, stream.gone
  end
  return changes
end

local function noteUnit(units, unit, changes, left)
  local group, turn = unit.group, unit.from + (unit.starts > 0 and unit.starts / unit.state.weight or 0)
  local isSomeDue, hasLeft, ends = false, false, heldUntil(unit.state)
  for _, lane in pairs(unit.lanes) do isSomeDue = isSomeDue or isDue(lane) end
  -- It may have turns at other priorities, and must not keep them.
  local isHeldElsewhere = ends and leaveTurns(group, units.priority, ofGroups.forgotten)
  if ends and (isSomeDue or isHeldElsewhere) then
    ofGroups.held[group] = ends
    grouping.nextFreeAt = math.min(grouping.nextFreeAt, ends)
    hasLeft = true
    for _, name in ipairs(units.names) do table.insert(changes[name].gone, group) end
  else
    for _, lane in pairs(unit.lanes) do
      local change = changes[lane.name] or { joined = {}, moved = {}, gone = {}, isNew = true }
      changes[lane.name] = change
      if isDue(lane) then
        if not lane.isStored or unit.starts > 0 then change.joined[#change.joined + 1], change.joined[#change.joined + 2] = turnText(turn), group end
      else
        hasLeft = true
        if lane.isStored then change.gone[#change.gone + 1] = group end
      end
    end
    for _, name in ipairs(unit.starts > 0 and units.names or {}) do
      local moved = changes[name].moved
      if not unit.lanes[name] then moved[#moved + 1], moved[#moved + 2] = turnText(turn), group end
    end
  end
  if hasLeft and turn > units.present then left[#left + 1], left[#left + 2] = turnText(turn), group end
end

local function writeLevel(units)
  if ofGroups.forgotten[units.priority] then return end
  local turningKey, leftKey, present = base .. 'turning:' .. units.priority, base .. 'left:' .. units.priority, units.present
  for _, unit in ipairs(units.all) do
    if unit.starts > 0 then units.present = math.max(units.present, unit.from + (unit.starts - 1) / unit.state.weight) end
  end
  local common = units.commonFrom and units.commonFrom + (units.commonStarts or 0)
  if (units.commonStarts or 0) > 0 then units.present = math.max(units.present, common - 1) end
  local changes, left = changesOf(units), units.left
  for _, unit in ipairs(units.all) do noteUnit(units, unit, changes, left) end
  local named, unnamed = {}, {}
  for name, change in pairs(changes) do
    local turnsKey = base .. 'turns:' .. units.priority .. ':' .. name
    for i = 1, #change.joined, PORTION do redis.call('ZADD', turnsKey, portion(change.joined, i)) end
    if change.moved[1] then redis.call('ZADD', turnsKey, 'XX', unpack(change.moved)) end
    for i = 1, #change.gone, PORTION do redis.call('ZREM', turnsKey, portion(change.gone, i)) end
    if change.isNew and change.joined[1] then named[#named + 1], named[#named + 2] = ':' .. name, '1' end
    if change.isEmpty and not change.joined[1] then unnamed[#unnamed + 1] = ':' .. name end
  end
  if units.present > present then named[#named + 1], named[#named + 2] = 'turn', turnText(units.present) end
  if units.areCommonDue then
    named[#named + 1], named[#named + 2] = 'common', turnText(common)
  elseif common and common <= units.present then
    unnamed[#unnamed + 1] = 'common'
  end
  if named[1] then redis.call('HSET', turningKey, unpack(named)) end
  if unnamed[1] then redis.call('HDEL', turningKey, unpack(unnamed)) end
  for i = 1, #left, PORTION do redis.call('ZADD', leftKey, portion(left, i)) end
  -- Groups that come back later than this join at the present anyway.
  if units.present > present then
    local over = redis.call('ZRANGE', leftKey, '-inf', turnText(units.present), 'BYSCORE', 'LIMIT', 0, 100 + #fit)
    if over[1] then redis.call('ZREM', leftKey, unpack(over)) end
  end
end

function grouping.writeTurns()
  for _, units in ipairs(grouping.taken) do writeLevel(units) end
  for _, group in ipairs(grouping.ofSuspects) do leaveTurns(group, '', ofGroups.forgotten) end
  for group, state in pairs(startedStates) do
    -- Also where no other job of the group is known to be due: a session that looks before this job has ended may handle other names. And where a
    -- suspect was started, which takes no turn.
    local ends = (state.isFifo or state.startsSuspect) and not ofGroups.held[group] and heldUntil(state)
    if ends then
      ofGroups.held[group] = ends
      grouping.nextFreeAt = math.min(grouping.nextFreeAt, ends)
      leaveTurns(group, '', ofGroups.forgotten)
    end
    if state.rate then
      local rate, rateKey, rateWindowMs, started = state.rate, base .. 'rate:@' .. group, state.rateWindowMs, state.starts
      -- @include turn/after/note-starts.lua
    end
  end
  local looked = grouping.looked
  if looked then
    -- Those that are held again until the same time, such as paused ones, stand before the others of that time.
    for _, group in ipairs(looked.groups) do
      if ofGroups.held[group] ~= false and (ofGroups.held[group] or looked.endsAt) == looked.endsAt then looked.kept = looked.kept + 1 end
    end
    grouping.lookedUpTo = '\t' .. digits(looked.endsAt) .. ' ' .. digits(looked.kept)
  end
end
