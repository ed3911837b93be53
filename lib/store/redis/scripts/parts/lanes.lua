-- A lane is the sorted set of the waiting jobs of one priority, preferred worker and name: id -> due.
-- `heads:<priority>` holds "<id of the lane's first job>\t<lane>" -> its due; `levels` holds priority -> the earliest of those.
-- Lanes with a preferred worker stand elsewhere, and twice: for that worker in `heads:<priority>:<worker>` and `levels:<worker>`,
-- for those who may steal from it in `heads:<priority>:*` and `levels:*`. So nobody reads through the lanes of others.
-- Suspects, jobs that have to run alone, lie in lanes of their own, "<priority>:!:<name>", which stand in `heads:<priority>:!` and
-- `levels:!` only: a claim of ordinary jobs neither sees these lanes nor steps over them.
-- A script opens every lane that it will change before its first write, changes it, and closes them all: then a lane is in its index
-- exactly when it is not empty. A key that the script may have emptied is not touched again, because on a cluster whose slot is on the
-- move such a key counts as missing and the script would stop half-way. Therefore additions come before removals, and sizes are
-- counted rather than asked for.
-- `laneList`: the lanes that are open. COMMON, PREFERRED, SUSPECTS: how the index keys end, of lanes without a preferred worker, of all
-- lanes with one, and of suspects' lanes.
-- @needs parts/clock.lua
-- @takes base, levelsKey
-- @gives laneList, COMMON, PREFERRED, SUSPECTS, openIndex, openLane, addToLane, takeFromLane, closeLanes
laneList = {}
COMMON, PREFERRED, SUSPECTS = '', ':*', ':!'

function addToLane(lane, id, due)
  local added = lane.added
  added[#added + 1] = digits(due)
  added[#added + 1] = id
end

function takeFromLane(lane, id)
  lane.removed[#lane.removed + 1] = id
end

local lanes, levels, indexes = {}, {}, {}

function openIndex(ending)
  local index = indexes[ending]
  if not index then
    local key = ending == COMMON and levelsKey or base .. 'levels' .. ending
    index = { key = key, count = redis.call('ZCARD', key), earliest = {}, emptied = {} }
    indexes[ending] = index
  end
  return index
end

local function openLevel(priority, ending)
  local key = base .. 'heads:' .. priority .. ending
  local level = levels[key]
  if not level then
    level = { key = key, priority = priority, index = openIndex(ending), count = redis.call('ZCARD', key), added = {}, removed = {} }
    levels[key] = level
  end
  return level
end

local function levelsOf(laneName)
  local priority, preferred = string.match(laneName, '^(%d+):([^:]*)')
  if preferred == '' then return { openLevel(priority, COMMON) } end
  if preferred == '!' then return { openLevel(priority, SUSPECTS) } end
  return { openLevel(priority, ':' .. preferred), openLevel(priority, PREFERRED) }
end

-- `head`: {id, due} of the lane's first job, where it has been read already.
function openLane(name, head)
  local lane = lanes[name]
  if not lane then
    lane = { name = name, key = base .. 'lane:' .. name, count = 0, added = {}, removed = {}, first = 0 }
    lane.levels = levelsOf(name)
    head = head or redis.call('ZRANGE', lane.key, 0, 0, 'WITHSCORES')
    if head[1] then
      lane.headId, lane.headDue = head[1], head[2]
      lane.count = redis.call('ZCARD', lane.key)
    end
    lanes[name] = lane
    laneList[#laneList + 1] = lane
  end
  return lane
end

-- Where others were added, the first ones may have moved, and go by their ids.
local function removeFirst(lane)
  if not lane.added[1] then
    lane.count = lane.count - redis.call('ZREMRANGEBYRANK', lane.key, 0, lane.first - 1)
    return
  end
  for _, id in ipairs(redis.call('ZRANGE', lane.key, 0, lane.first - 1)) do lane.removed[#lane.removed + 1] = id end
end

-- Writes what was added to and taken from the lanes, and sets each lane's and each level's head anew.
function closeLanes()
  for _, lane in ipairs(laneList) do
    if lane.first > 0 then removeFirst(lane) end
    if lane.added[1] then lane.count = lane.count + redis.call('ZADD', lane.key, unpack(lane.added)) end
    if lane.removed[1] then lane.count = lane.count - redis.call('ZREM', lane.key, unpack(lane.removed)) end
    local head = {}
    if lane.count > 0 then head = redis.call('ZRANGE', lane.key, 0, 0, 'WITHSCORES') end
    lane.moved = head[1] ~= lane.headId or head[2] ~= lane.headDue
    if lane.moved then
      for _, level in ipairs(lane.levels) do
        if head[1] then
          level.added[#level.added + 1] = head[2]
          level.added[#level.added + 1] = head[1] .. '\t' .. lane.name
        end
        -- A head that only moved in time keeps its member, so it is overwritten rather than removed.
        if lane.headId and lane.headId ~= head[1] then
          level.removed[#level.removed + 1] = lane.headId .. '\t' .. lane.name
        end
      end
      lane.headId, lane.headDue = head[1], head[2]
    end
  end
  for _, level in pairs(levels) do
    if level.added[1] or level.removed[1] then
      local before = level.count
      if level.added[1] then level.count = level.count + redis.call('ZADD', level.key, unpack(level.added)) end
      if level.removed[1] then level.count = level.count - redis.call('ZREM', level.key, unpack(level.removed)) end
      local earliest, emptied = level.index.earliest, level.index.emptied
      if level.count > 0 then
        earliest[#earliest + 1] = redis.call('ZRANGE', level.key, 0, 0, 'WITHSCORES')[2]
        earliest[#earliest + 1] = level.priority
      elseif before > 0 then
        emptied[#emptied + 1] = level.priority
      end
    end
  end
  for _, index in pairs(indexes) do
    if index.earliest[1] then index.count = index.count + redis.call('ZADD', index.key, unpack(index.earliest)) end
    if index.emptied[1] then index.count = index.count - redis.call('ZREM', index.key, unpack(index.emptied)) end
  end
end
