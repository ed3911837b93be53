-- A lane is the sorted set of the waiting jobs of one priority, one preferred worker or group (mostly none) and one versioned name: id -> due.
-- `heads:<priority>` holds "<id of the lane's first job>\t<lane>" -> its due; `levels` holds priority -> the earliest of those.
-- Lanes with a preferred worker stand elsewhere, and twice: for that worker in `heads:<priority>:<worker>` and `levels:<worker>`,
-- for those who may steal from it in `heads:<priority>:*` and `levels:*`. So nobody reads through the lanes of others.
-- Suspects, jobs that have to run alone, lie in lanes of their own, "<priority>:!:<name>", which stand in `heads:<priority>:!` and
-- `levels:!` only: a claim of ordinary jobs neither sees these lanes nor steps over them.
-- Lanes of groups, "<priority>:@<group>:<name>", stand in one of two levels of `levels:@`: those whose first job a claim has seen due in
-- `heads:<priority>^:@`, the others in `heads:<priority>:@`. What is seen due has its place in the turns of its priority, or is held (see
-- turn/claim/units.lua); a lane whose first job is another one that is due stays seen; one that is not due is unseen again. So a script that
-- changes lanes need not know of turns.
-- `versioned` lists the lanes of versions above 1 that belong to no group, whose names a session that takes all versions of its names cannot know.
-- `groups` lists, by group, its lanes, those of its suspects ("<priority>:!@<group>:<name>") too; `runningOfGroups` its running jobs.
-- A script opens every lane that it will change before its first write, changes it, reads the levels that this may change, and closes them
-- all: then a lane is in its index exactly when it is not empty. (For one common lane turn/claim/take-of-lane.lua and schedule/write-one-job.lua do
-- the same by themselves.) A job that is added behind the first one of its lane changes no level, so
-- none is read for it. While a cluster moves the slot no script begins (see docs/redis-design.md), so an emptied key may be asked again.
-- `laneList`: the lanes that are open, `openedLanes`: the same by name. COMMON, PREFERRED, SUSPECTS, GROUPED: how the index keys end, of lanes without a preferred worker, of
-- all lanes with one, of suspects' lanes, and of groups' lanes. SEEN: what stands behind the priority of a level of lanes that were seen due.
-- `ofGroups`: what is to be written of groups when lanes are closed, nil until a script has to do with groups: `there`, "<group>\t<lane>" ->
-- whether the lane stands in `groups` then; `running`, "<group>\t<id>" -> whether the job runs then; `held`, group -> until when it is held
-- (epoch ms, math.huge: until a job of it ends), false for no longer; `holders`, group -> id of the job that holds it, false for none;
-- `resumed`, groups whose pause is over; `turnsEnded`, lanes whose groups have no turn any more; `forgotten`, priority -> whether its turns are;
-- `seesPart`, a claim has not looked at all that is due.
-- `headsRead`: the heads of levels that a claim has read already, by key: `firsts` and `areAllFirsts` (see `firstAfter`).
-- @needs parts/clock.lua, parts/envelope.lua
-- @takes base, levelsKey
-- @gives laneList, openedLanes, COMMON, PREFERRED, SUSPECTS, GROUPED, SEEN, ofGroups, openIndex, openLevel, openLane, addToLane, takeFromLane, portion, headsRead, readLevels, closeLanes, earliestCommon
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

-- In portions: a turn may put back hundreds of groups, each with many lanes.
function portion(list, from)
  return unpack(list, from, math.min(from + PORTION - 1, #list))
end

local levels, levelList, indexes = {}, {}, {}
-- What `closeLanes` has changed in `levels`: `levelsAdded` due, priority, …; `levelsRemoved` priorities.
local levelsAdded, levelsRemoved = {}, {}
headsRead = {}

-- How an index stands before the lanes are closed. `count`: how many levels it has; 0 for none.
function openIndex(ending)
  local index = indexes[ending]
  if not index then
    local key = ending == COMMON and levelsKey or base .. 'levels' .. ending
    index = { key = key, count = redis.call('ZCARD', key) }
    indexes[ending] = index
  end
  return index
end

-- `first`, `firstDue`: the level's earliest head, and its due time; `indexedDue`: the one by which the index knows the level. nil for none. Where
-- a claim has not read the index, it is asked here: an index of another type stops the script before its first write, and one that has lost the
-- level is mended. `firsts`, `areAllFirsts`: see `firstAfter`.
function openLevel(priority, ending)
  local key = base .. 'heads:' .. priority .. ending
  local level = levels[key]
  if not level then
    local indexKey = ending == COMMON and levelsKey or base .. 'levels' .. ending
    local read = headsRead[key]
    local firsts = read and read.firsts or redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
    level = {
      key = key, priority = priority, ending = ending, indexKey = indexKey, first = firsts[1], firstDue = firsts[2],
      indexedDue = read and firsts[2] or not read and redis.call('ZSCORE', indexKey, priority) or nil,
      firsts = firsts, areAllFirsts = read and read.areAllFirsts or not firsts[1], added = {}, removed = {},
    }
    levels[key] = level
    levelList[#levelList + 1] = level
  end
  return level
end

-- Of each priority with lanes of groups that are open: its unseen level and its seen one.
local levelsOfGroups
-- The group of a lane, nil for none, and whether it takes turns: a suspect of a group does not.
local function groupIn(laneName)
  local suspect, group = string.match(laneName, '^%d+:(!?)@([^:]*)')
  return group, suspect == ''
end

-- The levels in which a lane may stand.
local function levelsOf(laneName)
  local priority, preferred = string.match(laneName, '^(%d+):([^:]*)')
  if preferred == '' then return { openLevel(priority, COMMON) } end
  local kind = string.sub(preferred, 1, 1)
  if kind == '!' then return { openLevel(priority, SUSPECTS) } end
  if kind == '@' then
    levelsOfGroups = levelsOfGroups or {}
    levelsOfGroups[priority] = levelsOfGroups[priority] or { openLevel(priority, GROUPED), openLevel(priority .. SEEN, GROUPED) }
    return levelsOfGroups[priority]
  end
  return { openLevel(priority, ':' .. preferred), openLevel(priority, PREFERRED) }
end

-- `front`: where a claim has read the lane already, `head`, {id, due} of its first job, `firsts` and `areAllFirsts` (see `firstAfter`).
-- `firstsTaken`: how many of its first jobs the claim takes; they are removed by rank.
-- What a script may set of a lane of a group: `isSeen`, the claim sees to the turn of its group; `isReindexed`, it goes into the level where it belongs now, unseen without `isSeen`, though its head stays;
-- `isFreed`, its group is held no longer, or only until `freeAt`, and sleepers are woken.
function openLane(name, front)
  local lane = openedLanes[name]
  if not lane then
    local key = base .. 'lane:' .. name
    local head = front and front.head or redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
    -- Fields that are set later stand here as well: a table that grows is made anew.
    lane = {
      name = name, key = key, added = {}, removed = {}, firstsTaken = 0, headId = head[1], headDue = head[2],
      firsts = front and front.firsts or head, areAllFirsts = front and front.areAllFirsts or not head[1], levels = nil, moved = nil,
    }
    local group, takesTurns = groupIn(name)
    if group then
      lane.group, lane.takesTurns, lane.wasThere = group, takesTurns, head[1] ~= nil
      -- @include parts/touch-groups.lua
    end
    openedLanes[name] = lane
    laneList[#laneList + 1] = lane
  end
  return lane
end

-- How many added jobs of a lane are compared with its head; of more, the head is read anew.
local MOST_COMPARED = 4

-- Whether another job may be the first of a lane once it is closed.
local function mayMove(lane)
  local added, removed, headId = lane.added, lane.removed, lane.headId
  if lane.isReindexed or lane.firstsTaken > 0 or not headId or #added > 2 * MOST_COMPARED then return true end
  for i = 1, #removed do
    if removed[i] == headId then return true end
  end
  local due = added[1] and tonumber(lane.headDue)
  for i = 1, #added, 2 do
    if tonumber(added[i]) <= due or added[i + 1] == headId then return true end
  end
  return false
end

-- Ends the read phase of lanes: reads the levels of those whose first jobs may change, so that a key of another type stops the script
-- before its first write.
function readLevels()
  for _, lane in ipairs(laneList) do
    if not lane.levels and mayMove(lane) then lane.levels = levelsOf(lane.name) end
  end
end

-- The due time and the member that is first in a sorted set after `added` (due, member, …) and `removed`. The member is nil where two are due at
-- once; the due time is nil where the set is empty, and false where only Redis can tell. `firsts`: its first members with their due times, as
-- they were read; `areAllFirsts`: it had no more.
local function firstAfter(firsts, areAllFirsts, added, removed)
  local gone = {}
  for i = 1, #removed do gone[removed[i]] = true end
  for i = 2, #added, 2 do
    if gone[added[i]] then return false end
    gone[added[i]] = true
  end
  local due, member
  for i = 1, #firsts, 2 do
    if not gone[firsts[i]] then
      member, due = firsts[i], firsts[i + 1]
      break
    end
  end
  if not due and not areAllFirsts then return false end
  for i = 1, #added, 2 do
    local earlier = due and tonumber(due) - tonumber(added[i]) or math.huge
    if earlier > 0 then due, member = added[i], added[i + 1] elseif earlier == 0 then member = nil end
  end
  return due or nil, member
end

-- The first job of a lane whose first job may have changed, and its due time.
local function headOf(lane)
  local added, removed = lane.added, lane.removed
  if lane.firstsTaken == 0 and #added <= 2 * MOST_COMPARED and #removed <= MOST_COMPARED then
    local due, id = firstAfter(lane.firsts, lane.areAllFirsts, added, removed)
    if due == nil then return {} end
    if id then return { id, due } end
  end
  return redis.call('ZRANGE', lane.key, 0, 0, 'WITHSCORES')
end

-- The earliest due time of a level after its heads have changed, nil for none.
local function earliestOfLevel(level)
  local due = firstAfter(level.firsts, level.areAllFirsts, level.added, level.removed)
  if due == false then return redis.call('ZRANGE', level.key, 0, 0, 'WITHSCORES')[2] end
  return due
end

-- Where others were added, the first ones may have moved, and go by their ids.
local function removeFirst(lane)
  if not lane.added[1] then return redis.call('ZREMRANGEBYRANK', lane.key, 0, lane.firstsTaken - 1) end
  for _, id in ipairs(redis.call('ZRANGE', lane.key, 0, lane.firstsTaken - 1)) do lane.removed[#lane.removed + 1] = id end
end

-- Writes what was added to and taken from the lanes, and sets each lane's and each level's head anew. `thenOfGroups` is called before
-- `ofGroups` is written.
function closeLanes(thenOfGroups)
  readLevels()
  for _, lane in ipairs(laneList) do
    if lane.firstsTaken > 0 then removeFirst(lane) end
    if lane.added[1] then redis.call('ZADD', lane.key, unpack(lane.added)) end
    if lane.removed[1] then redis.call('ZREM', lane.key, unpack(lane.removed)) end
    local head = lane.levels and headOf(lane)
    lane.moved = head and (lane.isReindexed or head[1] ~= lane.headId or head[2] ~= lane.headDue)
    if lane.moved then
      -- Of a lane of a group: in which of its levels it stands. One that was seen due stays so with its next job, if that is due.
      local standsIn, wasSeen
      if lane.takesTurns then
        local seen = lane.levels[2]
        wasSeen = not lane.isSeen and lane.headId and seen.first and redis.call('ZSCORE', seen.key, lane.headId .. '\t' .. lane.name)
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
      local isThere = head[1] ~= nil
      if (lane.headId ~= nil) ~= isThere then
        local laneName = lane.name
        -- @include parts/list-version.lua
      end
      if lane.group and lane.wasThere ~= isThere then ofGroups.there[lane.group .. '\t' .. lane.name] = not lane.wasThere end
      lane.headId, lane.headDue = head[1], head[2]
    end
  end
  for _, level in ipairs(levelList) do
    local added, removed = level.added, level.removed
    if added[1] or removed[1] then
      for i = 1, #added, PORTION do redis.call('ZADD', level.key, portion(added, i)) end
      for i = 1, #removed, PORTION do redis.call('ZREM', level.key, portion(removed, i)) end
      level.firstDue = earliestOfLevel(level)
      if level.firstDue ~= level.indexedDue then
        if level.ending == COMMON and level.firstDue then
          levelsAdded[#levelsAdded + 1], levelsAdded[#levelsAdded + 2] = level.firstDue, level.priority
        elseif level.ending == COMMON then
          levelsRemoved[#levelsRemoved + 1] = level.priority
        end
        if level.firstDue then
          redis.call('ZADD', level.indexKey, level.firstDue, level.priority)
          if indexes[level.ending] then indexes[level.ending].count = indexes[level.ending].count + 1 end
        else
          redis.call('ZREM', level.indexKey, level.priority)
        end
      end
    end
  end
  -- The turns of a priority are forgotten where no group has a due job there any more. So they are where a claim has taken all the due jobs that it
  -- saw: else a burst of many groups would leave the turn of each behind.
  for priority, both in pairs(levelsOfGroups or {}) do
    local unseen, seen = both[1], both[2]
    if not seen.firstDue and (seen.removed[1] or unseen.removed[1]) then
      ofGroups.forgotten[priority] = ofGroups.seesPart or not unseen.firstDue or tonumber(unseen.firstDue) > now
    end
  end
  if thenOfGroups then thenOfGroups() end
  if ofGroups then
    -- @include parts/of-groups.lua
  end
end

-- The earliest due time of the common levels after the lanes are closed, math.huge for none. `firsts`, `areAllFirsts`: the index as it was read
-- before (see `firstAfter`).
function earliestCommon(firsts, areAllFirsts)
  local due = firstAfter(firsts, areAllFirsts, levelsAdded, levelsRemoved)
  if due == false then due = redis.call('ZRANGE', levelsKey, 0, 0, 'WITHSCORES')[2] end
  return tonumber(due or math.huge)
end
