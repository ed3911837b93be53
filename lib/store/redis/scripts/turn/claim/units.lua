-- The turns of one level. A unit is a group that has due jobs at this priority, or, together, the due jobs without a group. It stands at a number,
-- its turn: the unit with the lowest is next, and one start takes it 1 / weight further. Of equal turns the jobs without a group come first,
-- then groups by name.
-- `turns:<priority>:<versioned name>` holds group -> turn, for each group with due jobs of that name and version: so a session reads only groups of which it may run a
-- job. A group has the same turn under each name. `turning:<priority>` is a hash: `turn`, the present, which is the highest turn at which
-- something has started; `common`, the turn of the jobs without a group; and ':<versioned name>' for each of which there are turns.
-- Names are versioned here, but for those that fronts have and that handlers' limits go by. `left:<priority>`
-- holds group -> its next turn, of groups that have left their turns, as long as that lies above the present.
-- Units join here: lanes that became due, or whose group was freed, are unseen until a claim looks (see parts/lanes.lua). Their groups join at the
-- present, but not before the turn that they have left: nobody gains by leaving. How many lanes a claim sees is bounded.
-- Groups that are held stand in `held`, and are passed over here: they cost a claim nothing until they are freed.
-- `units` is all that a script knows of the turns of one level:
--   present, names, areCommonDue  as read, and whether jobs without a group are due
--   common, commonFrom, commonStarts  the turn of the jobs without a group behind what is picked, the same before, and how many have started
--   all, ofGroup   the units of groups, and the same by group
--   list, first    those of which this session may start something, by turn, from index `first` on
--   joined         lanes that are seen due from now on
--   streams        of each name that this session handles: how far its turns are read, and `gone`, held groups to take out of them
--   left           turns and groups to remember in `left`
-- A unit of a group: `from`, its turn as read; `turn`, the same behind what is picked; `picks` and `starts`, of this level alone; `isAside`, it was
-- taken off `list`; `state` (see group/state.lua); and `lanes`, by job name. Such a lane is not one of parts/lanes.lua: `lane`, the lane's name;
-- `name`, that of its jobs; `id` and `dueText` of its head where known; `isStored`, the group has a turn under that name; `front`, its next
-- job, false for none, nil where nobody has looked.
-- @needs parts/clock.lua, parts/envelope.lua, parts/lanes.lua, parts/wake/handles.lua
-- @takes me, mayPass, base, isPassedOver, after, readFirst, grouping
-- @changes openUnits, bestUnit, moveUnitOn
-- How many turns are read at first.
local FIRST_TURNS = 16

-- By versioned name: the name alone where this session handles it, else false.
local handled = {}
local function noteHandled(names)
  local unknown, last = {}, nil
  for _, name in ipairs(names) do
    if name ~= last and handled[name] == nil then
      handled[name] = false
      unknown[#unknown + 1] = name
    end
  end
  for i, isHandled in ipairs(unknown[1] and handledAmong(me.crew, unknown) or {}) do
    handled[unknown[i]] = isHandled == 1 and string.match(unknown[i], '^[^\31]*')
  end
end

-- Which of these groups are held: group -> a true value.
local areSomeHeld
local function heldAmong(groups)
  if areSomeHeld == nil then areSomeHeld = redis.call('ZCARD', base .. 'held') > 0 end
  local held = {}
  for i, ends in ipairs(areSomeHeld and groups[1] and redis.call('ZMSCORE', base .. 'held', unpack(groups)) or {}) do
    held[groups[i]] = ends and true
  end
  for _, group in ipairs(groups) do
    if ofGroups.held[group] ~= nil then held[group] = ofGroups.held[group] end
  end
  return held
end

local function comesBefore(a, b)
  if a.turn ~= b.turn then return a.turn < b.turn end
  return a.group < b.group
end

-- Puts a unit where its turn is among the others.
local function insertUnit(units, unit)
  local list, low, high = units.list, units.first, #units.list + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if comesBefore(unit, list[middle]) then high = middle else low = middle + 1 end
  end
  table.insert(list, low, unit)
end

local function unitOf(units, group, turn)
  local unit = units.ofGroup[group]
  if not unit then
    unit = { group = group, turn = turn, from = turn, picks = 0, starts = 0, lanes = {} }
    units.ofGroup[group] = unit
    units.all[#units.all + 1] = unit
    return unit, true
  end
  return unit
end

-- The lanes that are seen due from now on: those that were not seen so far, and those that this script has freed.
local function findJoining(units)
  local most = math.max(math.min(me.limit, mayPass), LANES_SEEN)
  local heads = redis.call('ZRANGE', base .. 'heads:' .. units.priority .. GROUPED, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, most, 'WITHSCORES')
  grouping.areSomeUnseen = grouping.areSomeUnseen or #heads == 2 * most
  ofGroups.seesPart = grouping.areSomeUnseen
  local freedLanes = grouping.freedLanes
  local joining, isFound = {}, {}
  local match = string.match
  for i = 1, #heads, 2 do
    local id, laneName, group, name = match(heads[i], '^([^\t]*)\t(%d+:@([^:]*):(.*))$')
    joining[#joining + 1] = { lane = laneName, name = name, group = group, id = id, dueText = heads[i + 1] }
    if freedLanes[1] then isFound[laneName] = true end
  end
  for _, lane in ipairs(freedLanes) do
    local priority, name = match(lane.name, '^(%d+):@[^:]*:(.*)$')
    if priority == units.priority and not isFound[lane.name] then
      joining[#joining + 1] = { lane = lane.name, name = name, group = lane.group, id = lane.headId, dueText = lane.headDue }
    end
  end
  return joining
end

-- The turn of each of these groups: the one that it has, else the one that it has left, but not before the present. And by job name, the groups
-- that have a turn under that name.
local function turnsOf(units, groups)
  local turns = {}
  local function take(turnsKey)
    local found = {}
    for i, turn in ipairs(redis.call('ZMSCORE', turnsKey, unpack(groups))) do
      found[groups[i]] = turn
      if turn and not turns[groups[i]] then turns[groups[i]] = tonumber(turn) end
    end
    return found
  end
  local stored = {}
  for _, name in ipairs(units.names) do stored[name] = take(base .. 'turns:' .. units.priority .. ':' .. name) end
  local stays = {}
  for group in pairs(turns) do stays[group] = true end
  take(base .. 'left:' .. units.priority)
  for _, group in ipairs(groups) do
    if not stays[group] then turns[group] = math.max(units.present, turns[group] or units.present) end
  end
  return turns, stored
end

local function joinUnits(units)
  local joining = findJoining(units)
  if not joining[1] then return end
  local groups, names, isKnown = {}, {}, {}
  for _, lane in ipairs(joining) do
    if not isKnown[lane.group] then
      isKnown[lane.group] = true
      groups[#groups + 1] = lane.group
    end
    names[#names + 1] = lane.name
  end
  noteHandled(names)
  local turns, stored = turnsOf(units, groups)
  local held = heldAmong(groups)
  for _, lane in ipairs(joining) do
    units.joined[#units.joined + 1] = lane
    if not held[lane.group] then
      unitOf(units, lane.group, turns[lane.group]).lanes[lane.name] = lane
      lane.isStored = stored[lane.name] and stored[lane.name][lane.group]
    end
  end
  units.list = { unpack(units.all) }
  table.sort(units.list, comesBefore)
end

-- Reads on in the turns under one name.
local function readTurns(units, stream)
  local found = redis.call('ZRANGE', stream.key, stream.offset, stream.offset + stream.chunk - 1, 'WITHSCORES')
  local groups = {}
  for i = 1, #found, 2 do groups[#groups + 1] = found[i] end
  stream.isEmpty = stream.offset == 0 and not groups[1]
  stream.isRead = #groups < stream.chunk
  local held, free = heldAmong(groups), {}
  for _, group in ipairs(groups) do
    if not held[group] then free[#free + 1] = group end
  end
  grouping.readHolders(free)
  for i, group in ipairs(groups) do
    local turn = tonumber(found[2 * i])
    stream.last = { turn = turn, group = group }
    if held[group] then
      stream.gone[#stream.gone + 1] = group
      if turn > units.present then units.left[#units.left + 1], units.left[#units.left + 2] = found[2 * i], group end
    else
      local unit, isNew = unitOf(units, group, turn)
      local lane = unit.lanes[stream.name]
      if lane then
        lane.isStored = true
      else
        unit.lanes[stream.name] = { lane = units.priority .. ':@' .. group .. ':' .. stream.name, name = stream.name, group = group, isStored = true }
      end
      if isNew then insertUnit(units, unit) end
      -- It was set aside before this name of it was read.
      if not isNew and unit.isAside then
        unit.isAside = false
        insertUnit(units, unit)
      end
    end
  end
  stream.offset, stream.chunk = stream.offset + #groups, math.min(stream.chunk * 4, 500)
end

-- `areCommonDue`: whether there are due jobs without a group.
function openUnits(priority, areCommonDue)
  local units = { priority = priority, present = 0, list = {}, all = {}, first = 1, ofGroup = {}, joined = {}, names = {}, streams = {}, left = {} }
  local found = redis.call('HGETALL', base .. 'turning:' .. priority)
  for i = 1, #found, 2 do
    if found[i] == 'turn' then
      units.present = tonumber(found[i + 1])
    elseif found[i] == 'common' then
      units.common = tonumber(found[i + 1])
    else
      units.names[#units.names + 1] = string.sub(found[i], 2)
    end
  end
  units.areCommonDue = areCommonDue
  if areCommonDue then units.common = units.common or units.present end
  units.commonFrom = units.common
  joinUnits(units)
  noteHandled(units.names)
  for _, name in ipairs(units.names) do
    if handled[name] then
      units.streams[#units.streams + 1] = { name = name, key = base .. 'turns:' .. priority .. ':' .. name, offset = 0, chunk = FIRST_TURNS, gone = {} }
    end
  end
  return units
end

-- The unit that is next, nil for none. Turns are read on where a turn that has not been read could come before it.
local function nextUnit(units)
  while true do
    local unit, isBehind = units.list[units.first], false
    for _, stream in ipairs(units.streams) do
      if not stream.isRead and not isPassedOver(handled[stream.name]) and (not unit or not stream.last or comesBefore(stream.last, unit)) then
        readTurns(units, stream)
        isBehind = true
        break
      end
    end
    if not isBehind then return unit end
  end
end

local function frontOf(lane, id, dueText)
  return { id = id, due = dueText and tonumber(dueText), dueText = dueText, head = { id, dueText }, dueBy = now, name = handled[lane.name], lane = lane.lane, group = lane.group, key = base .. 'lane:' .. lane.lane, read = 1, jobs = {}, at = 1, step = 2, chunk = nil, exhausted = nil, firsts = nil, areAllFirsts = nil }
end

-- The first due job of a lane; false where there is none.
local function openFront(lane)
  if lane.id then return frontOf(lane, lane.id, lane.dueText) end
  local front = frontOf(lane)
  if not readFirst(front) then return false end
  lane.id, lane.dueText = front.id, front.dueText
  return front
end

-- The best job of a unit that this session may run; nil for none.
local function bestOf(units, unit, state)
  if state.only then
    local only = state.only
    local name = versionedNameOf(only.lane)
    noteHandled({ name })
    if string.match(only.lane, '^%d+:@') == units.priority .. ':@' and handled[name] and not isPassedOver(handled[name]) then
      local front = frontOf({ lane = only.lane, name = name, group = unit.group }, only.id, only.dueText)
      -- The holder need not be the head of its lane.
      front.head = nil
      return front
    end
    return nil
  end
  local best
  for _, lane in pairs(unit.lanes) do
    if handled[lane.name] and not isPassedOver(handled[lane.name]) then
      if lane.front == nil then lane.front = openFront(lane) end
      if lane.front and (not best or after(best, lane.front)) then best = lane.front end
    end
  end
  return best
end

-- The next unit of which this session may start a job, and its best job; nil for none.
function bestUnit(units)
  while true do
    local unit = nextUnit(units)
    if not unit then return nil end
    unit.state = unit.state or grouping.stateOf(unit.group)
    local front = (unit.state.picks or 0) < unit.state.free and bestOf(units, unit, unit.state)
    if front then return unit, front end
    unit.isAside = true
    units.first = units.first + 1
  end
end

-- The best job of the next unit has been picked: moves the unit behind that. `hasMore`: the lane of the job has another due one.
function moveUnitOn(units, unit, front, hasMore)
  unit.picks = unit.picks + 1
  if unit.state.picks then unit.state.picks = unit.state.picks + 1 end
  unit.turn = unit.from + unit.picks / unit.state.weight
  -- Mostly the unit has no more jobs and is set aside; another name of it that is read later brings it back.
  local mayHaveMore = hasMore
  for _, lane in pairs(unit.lanes) do
    if lane.front == front and not hasMore then lane.front = false end
    mayHaveMore = mayHaveMore or lane.front ~= false
  end
  units.first = units.first + 1
  unit.isAside = not mayHaveMore
  if mayHaveMore then insertUnit(units, unit) end
end
