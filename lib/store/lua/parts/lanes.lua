-- A lane is the sorted set of the waiting jobs of one priority, preferred worker and name: id -> due.
-- `heads:<priority>` holds "<id of the lane's first job>\t<lane>" -> its due; `levels` holds priority -> the earliest of those.
-- A script opens every lane that it will change before its first write, changes it, and closes them all:
-- then a lane is in its index exactly when it is not empty. What a script may have emptied it does not touch again,
-- because on a cluster whose slot is on the move such a key counts as missing and the script would stop half-way;
-- therefore additions come before removals, and sizes are counted rather than asked for.
-- Needs `base` and `levelsKey`.
local lanes, laneList, levels = {}, {}, {}
local levelCount

local function openLevel(priority)
  local level = levels[priority]
  if not level then
    local key = base .. 'heads:' .. priority
    levelCount = levelCount or redis.call('ZCARD', levelsKey)
    level = { key = key, count = redis.call('ZCARD', key), added = {}, removed = {} }
    levels[priority] = level
  end
  return level
end

local function openLane(name)
  local lane = lanes[name]
  if not lane then
    lane = { name = name, key = base .. 'lane:' .. name, count = 0, added = {}, removed = {} }
    lane.level = openLevel(string.match(name, '^%d+'))
    local head = redis.call('ZRANGE', lane.key, 0, 0, 'WITHSCORES')
    if head[1] then
      lane.headId, lane.headDue = head[1], head[2]
      lane.count = redis.call('ZCARD', lane.key)
    end
    lanes[name] = lane
    laneList[#laneList + 1] = lane
  end
  return lane
end

local function addToLane(lane, id, due)
  local added = lane.added
  added[#added + 1] = digits(due)
  added[#added + 1] = id
end

local function takeFromLane(lane, id)
  lane.removed[#lane.removed + 1] = id
end

-- Writes what was added to and taken from the lanes, and sets each lane's and each level's head anew.
local function closeLanes()
  for _, lane in ipairs(laneList) do
    if lane.added[1] then lane.count = lane.count + redis.call('ZADD', lane.key, unpack(lane.added)) end
    if lane.removed[1] then lane.count = lane.count - redis.call('ZREM', lane.key, unpack(lane.removed)) end
    local head = {}
    if lane.count > 0 then head = redis.call('ZRANGE', lane.key, 0, 0, 'WITHSCORES') end
    lane.moved = head[1] ~= lane.headId or head[2] ~= lane.headDue
    if lane.moved then
      local level = lane.level
      if head[1] then
        level.added[#level.added + 1] = head[2]
        level.added[#level.added + 1] = head[1] .. '\t' .. lane.name
      end
      -- A head that only moved in time keeps its member, so it is overwritten rather than removed.
      if lane.headId and lane.headId ~= head[1] then
        level.removed[#level.removed + 1] = lane.headId .. '\t' .. lane.name
      end
      lane.headId, lane.headDue = head[1], head[2]
    end
  end
  local earliest, emptied = {}, {}
  for priority, level in pairs(levels) do
    if level.added[1] or level.removed[1] then
      local before = level.count
      if level.added[1] then level.count = level.count + redis.call('ZADD', level.key, unpack(level.added)) end
      if level.removed[1] then level.count = level.count - redis.call('ZREM', level.key, unpack(level.removed)) end
      if level.count > 0 then
        earliest[#earliest + 1] = redis.call('ZRANGE', level.key, 0, 0, 'WITHSCORES')[2]
        earliest[#earliest + 1] = priority
      elseif before > 0 then
        emptied[#emptied + 1] = priority
      end
    end
  end
  if earliest[1] then levelCount = levelCount + redis.call('ZADD', levelsKey, unpack(earliest)) end
  if emptied[1] then levelCount = levelCount - redis.call('ZREM', levelsKey, unpack(emptied)) end
end
