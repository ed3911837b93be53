-- schedule: add jobs to their lanes; an id that is there already, or ended lately, changes nothing.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:claims      HASH job id -> claim record
-- KEYS[3] sq:{<queue>}:ended       ZSET chosen id of an ended job -> when it may be used again (epoch ms)
-- KEYS[4] sq:{<queue>}:stats       HASH counter -> number
-- KEYS[5] sq:{<queue>}:completed   ZSET id of a kept completed job -> when it completed (epoch ms)
-- KEYS[6] sq:{<queue>}:finished    HASH id of a kept completed job -> its record
-- KEYS[7] sq:{<queue>}:levels      ZSET priority -> earliest due (epoch ms)
-- KEYS[8] sq:{<queue>}:groups      SET groups of workers
-- KEYS[9] sq:{<queue>}:call:<caller> STRING last call number and its answer
-- ARGV[1] key base, "sq:{<queue>}:"   ARGV[2] call number        ARGV[3] deadline (epoch ms, 0 = none)
-- ARGV[4] how long the record is kept (ms)  ARGV[5] '1' on a cluster   ARGV[6] lowest and
-- ARGV[7] highest id that this call's maker made for it ('-' = none)
-- ARGV[8] how late a job must be before any worker may take it from the one that it prefers (ms)
-- ARGV[9…] five for each job: id, how it was chosen ('' made by this caller, 'c' by the user, 'm' by the user in the form
--          of a made one), head of the envelope, due (> 0: at, epoch ms; <= 0: minus the delay in ms), rest of the envelope
-- Returns {status, now, when the call was taken in, bits, due of each duplicate…}: a bit is 1 where the job was created.
-- Repeating it after a lost reply: the record answers, even when the job has run and is gone by then.
local base, callNumber, deadline = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local clustered, stealAfterMs = ARGV[5] == '1', tonumber(ARGV[8])
local endedKey, levelsKey, groupsKey, callKey = KEYS[3], KEYS[7], KEYS[8], KEYS[9]
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/made.lua
-- @include parts/envelope.lua
-- @include parts/lanes.lua
-- @include parts/wake.lua
-- @include parts/tag.lua
local JOB_FIELDS, FIRST = 5, 9
-- The rest of an envelope without flags and tags begins with a line break.
local NO_FLAG = 10

local status, answer = answeredBefore(callKey, callNumber, deadline)
if status then
  local reply = { status, digits(now) }
  if answer then
    local parts = string.match(answer, '^%S+ %S+ (.*)$')
    for part in string.gmatch(parts, '%S+') do reply[#reply + 1] = part end
  end
  return reply
end

local ids = {}
for i = FIRST, #ARGV, JOB_FIELDS do ids[#ids + 1] = ARGV[i] end
local known = redis.call('HMGET', KEYS[1], unpack(ids))

-- The due time of a job that is there already: from its lane, or from its claim once it has been claimed.
local function dueOf(id, envelope)
  local due = redis.call('ZSCORE', base .. 'lane:' .. laneOf(envelope), id)
  if due then return due end
  local record = redis.call('HGET', KEYS[2], id)
  return record and string.match(record, '^%d+c? %d+ %d+ (%d+)') or digits(now)
end

local function ranBefore(id, chosen)
  return chosen ~= '' and (isRemembered(id) or ranUnanswered(id, chosen))
end

local bits, duplicates, fields, seen, forgotten = {}, {}, {}, {}, {}
local created = 0
-- Many jobs of one call share their head and their due time: what is made of these is made once.
local openLanes, beginnings, dueTexts = {}, {}, {}
local function open(head)
  local lane = openLane(laneOfHead(head))
  if not lane.added[1] then readWakers(nameOf(lane.name)) end
  openLanes[head] = lane
  beginnings[head] = head .. '\n' .. digits(now) .. ' '
  return lane
end
for job = 1, #ids do
  local at = FIRST + (job - 1) * JOB_FIELDS
  local id, chosen, head, due = ids[job], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3])
  due = due > 0 and math.max(due, now) or now - due
  local there = seen[id] or (known[job] and dueOf(id, known[job])) or (ranBefore(id, chosen) and digits(due))
  if there then
    bits[job] = '0'
    duplicates[#duplicates + 1] = there
  else
    bits[job] = '1'
    local rest = ARGV[at + 4]
    local dueText = dueTexts[due] or digits(due)
    seen[id], dueTexts[due] = dueText, dueText
    if chosen ~= '' then forgotten[#forgotten + 1] = id end
    local lane = openLanes[head] or open(head)
    local added = lane.added
    local count = #added
    added[count + 1], added[count + 2] = dueText, id
    if string.byte(rest) ~= NO_FLAG then tagJob(id, tagsOfRest(rest)) end
    created = created + 1
    fields[2 * created - 1], fields[2 * created] = id, beginnings[head] .. rest
  end
end

if created > 0 then
  -- The first write adds, so that a full memory refuses the call whole.
  redis.call('HSET', KEYS[1], unpack(fields))
  closeLanes()
  writeTagged()
  redis.call('HINCRBY', KEYS[4], 'scheduled', created)
  if forgotten[1] then
    redis.call('ZREM', endedKey, unpack(forgotten))
    redis.call('ZREM', KEYS[5], unpack(forgotten))
    redis.call('HDEL', KEYS[6], unpack(forgotten))
  end
end
local reply = { digits(now), table.concat(bits), unpack(duplicates) }
redis.call('SET', callKey, ARGV[2] .. ' ' .. ARGV[6] .. ' ' .. ARGV[7] .. ' ' .. table.concat(reply, ' '), 'PX', ARGV[4])
for _, lane in ipairs(laneList) do
  if lane.moved then wakeLane(lane) end
end
return { 'done', digits(now), unpack(reply) }
