-- Reads what is due in groups, and what this turn frees. Read phase.
-- `firstDueAt`: when the first job without a group is due, math.huge for none; none is due now. `nextFreeAt`: when the next held group is to be freed.
-- `indexed`: `levels:@`, the levels of groups' lanes with their due times; all are of one `priority`, nil for none. `name`: the versioned name of all jobs of groups,
-- nil for none. `lanePrefix`, `laneSuffix`: what stands before and behind the group in the names of their lanes.
-- `freed`: for each group whose job has completed and that has others: `name` of its lane, `jobs`, the first two of these, with due times, and `headDue`, when
-- the first one is due.
-- `turning`: of the priority, the `present` turn and whether the `name` is noted there (see turn/claim/units.lua).
-- `joined`: the lanes that are seen due from now on: `group`, `lane`, `id` and `due` of its first job; where it is freed, its `freed`, and whether it `wasSeen`.
-- @needs parts/clock.lua
-- @takes me, base, levelsKey, grouping
-- @gives firstDueAt, nextFreeAt, indexed, priority, name, lanePrefix, laneSuffix, freed, turning, joined
firstDueAt = tonumber(redis.call('ZRANGE', levelsKey, 0, 0, 'WITHSCORES')[2] or math.huge)
if firstDueAt <= now then return { 'whole', digits(now), 'uses' } end
nextFreeAt = tonumber(redis.call('ZRANGE', base .. 'held', 0, 0, 'WITHSCORES')[2] or math.huge)
if nextFreeAt <= now then return { 'whole', digits(now), '' } end
indexed = redis.call('ZRANGE', base .. 'levels:' .. '@', 0, 2, 'WITHSCORES')
priority = indexed[1] and string.match(indexed[1], '^%d+')
if indexed[5] or indexed[3] and string.match(indexed[3], '^%d+') ~= priority then return { 'whole', digits(now), 'uses' } end

turning, joined, freed = { present = 0, isNoted = false }, {}, {}
local isDue = indexed[2] and tonumber(indexed[2]) <= now
local found = isDue and redis.call('HGETALL', base .. 'turning:' .. priority) or {}
for i = 1, #found, 2 do
  if found[i] == 'turn' then
    turning.present = tonumber(found[i + 1])
  elseif found[i] == 'common' or name then
    -- Jobs without a group have taken turns, or there are several names.
    return { 'whole', digits(now), found[i] == 'common' and '' or 'uses' }
  else
    name, turning.isNoted = string.sub(found[i], 2), true
  end
end

-- The lanes that are due and unseen, as many as a claim looks at.
local unseen = {}
if isDue then
  local most = math.max(me.limit, LANES_SEEN)
  unseen = redis.call('ZRANGE', base .. 'heads:' .. priority .. ':' .. '@', '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, most, 'WITHSCORES')
  grouping.areSomeUnseen = #unseen == 2 * most
end
local byLane = {}
for i = 1, #unseen, 2 do
  local id, lane, group, versionedName = string.match(unseen[i], '^([^\t]*)\t(%d+:@([^:]*):(.*))$')
  name = name or versionedName
  if not lane or versionedName ~= name then return { 'whole', digits(now), 'uses' } end
  local head = { group = group, lane = lane, id = id, due = unseen[i + 1], freed = nil, wasSeen = false }
  joined[#joined + 1], byLane[lane] = head, head
end

local ended = grouping.ended
for i = 2, #ended, 2 do
  local group = ended[i]
  local members = redis.call('ZRANGE', base .. 'groups', '[' .. group .. '\t', '(' .. group .. '\n', 'BYLEX', 'LIMIT', 0, 2)
  if members[2] then return { 'whole', digits(now), 'uses' } end
  if members[1] then
    local lane = string.sub(members[1], #group + 2)
    local lanePriority, versionedName = string.match(lane, '^(%d+):@[^:]*:(.*)$')
    name = name or versionedName
    if not versionedName or versionedName ~= name or lanePriority ~= priority then return { 'whole', digits(now), 'uses' } end
    local jobs, head = redis.call('ZRANGE', base .. 'lane:' .. lane, 0, 1, 'WITHSCORES'), byLane[lane]
    local isHeadDue = jobs[1] and tonumber(jobs[2]) <= now
    -- Somebody has changed the lane or the index, or the job is settled twice.
    if not jobs[1] or isHeadDue and not isDue or head and (head.freed or head.id ~= jobs[1]) then return { 'whole', digits(now), '' } end
    local freedLane = { name = lane, jobs = jobs, headDue = jobs[2], freeAt = nil }
    freed[#freed + 1] = freedLane
    if head then
      head.freed = freedLane
    elseif isHeadDue then
      -- Where all unseen lanes were read, this one has been seen.
      head = { group = group, lane = lane, id = jobs[1], due = jobs[2], freed = freedLane, wasSeen = not grouping.areSomeUnseen }
      joined[#joined + 1], byLane[lane] = head, head
    end
  end
end
if name then lanePrefix, laneSuffix = priority .. ':@', ':' .. name end
