-- A lane is the sorted set of the waiting jobs of one priority, preferred worker and name: id -> due.
-- `heads:<priority>` holds "<id of the lane's first job>\t<lane>" -> its due; `levels` holds priority -> the earliest of those.
-- Lanes with a preferred worker stand elsewhere, and twice: for that worker in `heads:<priority>:<worker>` and `levels:<worker>`,
-- for those who may steal from it in `heads:<priority>:*` and `levels:*`. So nobody reads through the lanes of others.
-- Suspects, jobs that have to run alone, lie in lanes of their own, "<priority>:!:<name>", which stand in `heads:<priority>:!` and
-- `levels:!` only: a claim of ordinary jobs neither sees these lanes nor steps over them.
-- Lanes of groups, "<priority>:@<group>:<name>", stand in one of two levels of `levels:@`: those whose first job a claim has seen due in
-- `heads:<priority>^:@`, the others in `heads:<priority>:@`. What is seen due has its place in the turns of its priority, or is held (see
-- turn/claim/units.lua); a lane whose first job is another one that is due stays seen; one that is not due is unseen again. So a script that
-- changes lanes need not know of turns.
-- `groups` lists, by group, its lanes, those of its suspects ("<priority>:!@<group>:<name>") too; `runningOfGroups` its running jobs.
-- A script opens every lane that it will change before its first write, changes it, and closes them all: then a lane is in its index
-- exactly when it is not empty. A key that the script may have emptied is not touched again, because on a cluster whose slot is on the
-- move such a key counts as missing and the script would stop half-way. Therefore additions come before removals, and sizes are
-- counted rather than asked for.
-- `laneList`: the lanes that are open, `openedLanes`: the same by name. COMMON, PREFERRED, SUSPECTS, GROUPED: how the index keys end, of lanes without a preferred worker, of
-- all lanes with one, of suspects' lanes, and of groups' lanes. SEEN: what stands behind the priority of a level of lanes that were seen due.
-- `ofGroups`: what is to be written of groups when lanes are closed, nil until a script has to do with groups: `there`, "<group>\t<lane>" ->
-- whether the lane stands in `groups` then; `running`, "<group>\t<id>" -> whether the job runs then; `held`, group -> until when it is held
-- (epoch ms, math.huge: until a job of it ends), false for no longer; `holders`, group -> id of the job that holds it, false for none;
-- `resumed`, groups whose pause is over; `turnsEnded`, lanes whose groups have no turn any more; `forgotten`, priority -> whether its turns are;
-- `seesPart`, a claim has not looked at all that is due.
-- @needs parts/clock.lua, parts/envelope.lua
-- @takes base, levelsKey
-- @gives laneList, openedLanes, COMMON, PREFERRED, SUSPECTS, GROUPED, SEEN, ofGroups, openIndex, openLevel, openLane, addToLane, takeFromLane, PORTION, portion, closeLanes
laneList, openedLanes = {}, {}
COMMON, PREFERRED, SUSPECTS, GROUPED, SEEN = '', ':*', ':!', ':@', '^'

function addToLane(lane, id, due)
  local added = lane.added
  added[#added + 1] = digits(due)
  added[#added + 1] = id
end

function takeFromLane(lane, id)
  lane.removed[#lane.removed + 1] = id
end

-- In portions, as Lua hands over 8000 arguments at most: a turn may put back hundreds of groups, each with many lanes.
PORTION = 4000
function portion(list, from)
  return unpack(list, from, math.min(from + PORTION - 1, #list))
end

local levels, indexes = {}, {}

function openIndex(ending)
  local index = indexes[ending]
  if not index then
    local key = ending == COMMON and levelsKey or base .. 'levels' .. ending
    index = { key = key, count = redis.call('ZCARD', key), earliest = {}, emptied = {} }
    indexes[ending] = index
  end
  return index
end

function openLevel(priority, ending)
  local key = base .. 'heads:' .. priority .. ending
  local level = levels[key]
  if not level then
    level = { key = key, priority = priority, index = openIndex(ending), count = redis.call('ZCARD', key), added = {}, removed = {} }
    levels[key] = level
  end
  return level
end

-- Of each priority with lanes of groups that are open: its unseen level and its seen one.
local levelsOfGroups
-- The levels in which a lane may stand, and its group, nil for none.
local function levelsOf(laneName)
  local priority, preferred = string.match(laneName, '^(%d+):([^:]*)')
  if preferred == '' then return { openLevel(priority, COMMON) } end
  local kind = string.sub(preferred, 1, 1)
  if kind == '!' then return { openLevel(priority, SUSPECTS) }, string.match(preferred, '^!@(.*)$') end
  if kind == '@' then
    levelsOfGroups = levelsOfGroups or {}
    levelsOfGroups[priority] = levelsOfGroups[priority] or { openLevel(priority, GROUPED), openLevel(priority .. SEEN, GROUPED) }
    return levelsOfGroups[priority], string.sub(preferred, 2)
  end
  return { openLevel(priority, ':' .. preferred), openLevel(priority, PREFERRED) }
end

-- `head`: {id, due} of the lane's first job, where it has been read already. What a script may set of a lane of a group: `isSeen`, the claim sees to
-- the turn of its group; `isReindexed`, it goes into the level where it belongs now, unseen without `isSeen`, though its head stays;
-- `isFreed`, its group is held no longer, or only until `freeAt`, and sleepers are woken.
function openLane(name, head)
  local lane = openedLanes[name]
  if not lane then
    local levels, group = levelsOf(name)
    lane = { name = name, key = base .. 'lane:' .. name, count = 0, added = {}, removed = {}, first = 0, levels = levels }
    head = head or redis.call('ZRANGE', lane.key, 0, 0, 'WITHSCORES')
    if head[1] then
      lane.headId, lane.headDue = head[1], head[2]
      lane.count = redis.call('ZCARD', lane.key)
    end
    if group then
      lane.group, lane.takesTurns, lane.wasThere = group, levels[2] ~= nil, lane.count > 0
      -- @include parts/touch-groups.lua
    end
    openedLanes[name] = lane
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

-- Writes what was added to and taken from the lanes, and sets each lane's and each level's head anew. `thenOfGroups` is called before
-- `ofGroups` is written.
function closeLanes(thenOfGroups)
  for _, lane in ipairs(laneList) do
    if lane.first > 0 then removeFirst(lane) end
    if lane.added[1] then lane.count = lane.count + redis.call('ZADD', lane.key, unpack(lane.added)) end
    if lane.removed[1] then lane.count = lane.count - redis.call('ZREM', lane.key, unpack(lane.removed)) end
    local head = {}
    if lane.count > 0 then head = redis.call('ZRANGE', lane.key, 0, 0, 'WITHSCORES') end
    lane.moved = lane.isReindexed or head[1] ~= lane.headId or head[2] ~= lane.headDue
    if lane.moved then
      -- Of a lane of a group: in which of its levels it stands. One that was seen due stays so with its next job, if that is due.
      local standsIn, wasSeen
      if lane.takesTurns then
        local seen = lane.levels[2]
        wasSeen = not lane.isSeen and lane.headId and seen.count > 0 and redis.call('ZSCORE', seen.key, lane.headId .. '\t' .. lane.name)
        local isSeen = lane.isSeen or wasSeen and not lane.isReindexed
        standsIn = isSeen and head[1] and tonumber(head[2]) <= now and 2 or 1
        -- Somebody has taken what was due. Of lanes that a claim takes jobs of, the claim itself sees to the turns.
        if wasSeen and standsIn == 1 then ofGroups.turnsEnded[#ofGroups.turnsEnded + 1] = lane end
      end
      for i, level in ipairs(lane.levels) do
        local stands = not standsIn or i == standsIn
        if head[1] and stands then
          level.added[#level.added + 1] = head[2]
          level.added[#level.added + 1] = head[1] .. '\t' .. lane.name
        end
        -- A head that only moved in time keeps its member, so it is overwritten rather than removed.
        if lane.headId and (lane.headId ~= head[1] or not stands) then
          level.removed[#level.removed + 1] = lane.headId .. '\t' .. lane.name
        end
      end
      if lane.group and lane.wasThere ~= (lane.count > 0) then ofGroups.there[lane.group .. '\t' .. lane.name] = not lane.wasThere end
      lane.headId, lane.headDue = head[1], head[2]
    end
  end
  for _, level in pairs(levels) do
    if level.added[1] or level.removed[1] then
      local before = level.count
      for i = 1, #level.added, PORTION do level.count = level.count + redis.call('ZADD', level.key, portion(level.added, i)) end
      for i = 1, #level.removed, PORTION do level.count = level.count - redis.call('ZREM', level.key, portion(level.removed, i)) end
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
  -- The turns of a priority are forgotten where no group has a due job there any more. So they are where a claim has taken all the due jobs that it
  -- saw: else a burst of many groups would leave the turn of each behind.
  for priority, both in pairs(levelsOfGroups or {}) do
    local unseen, seen = both[1], both[2]
    if seen.count == 0 and (seen.removed[1] or unseen.removed[1]) then
      local first = unseen.count > 0 and redis.call('ZRANGE', unseen.key, 0, 0, 'WITHSCORES')[2]
      ofGroups.forgotten[priority] = ofGroups.seesPart or not first or tonumber(first) > now
    end
  end
  if thenOfGroups then thenOfGroups() end
  if ofGroups then
    -- @include parts/of-groups.lua
  end
end
