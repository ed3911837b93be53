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
-- ARGV[9…] jobs that differ in id and in the end of the envelope alone come as one row: how many, how their ids were chosen
--          ('' made by this caller, 'c' by the user, 'm' by the user in the form of a made one), head of the envelope, due
--          (> 0: at, epoch ms; <= 0: minus the delay in ms), the middle, which follows the time; then their ids, made ones, all of
--          one length, joined into one argument; then the ends of their envelopes
-- Returns {status, now, when the call was taken in, bits, due of each duplicate…}: a bit is 1 where the job was created.
-- Repeating it after a lost reply: the record answers, even when the job has run and is gone by then. Where an eviction has
-- taken the record, jobs with made ids are written again.
local base, callNumber, deadline = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local clustered, stealAfterMs = ARGV[5] == '1', tonumber(ARGV[8])
local endedKey, levelsKey, groupsKey, callKey = KEYS[3], KEYS[7], KEYS[8], KEYS[9]
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/made.lua
-- @include parts/envelope.lua
-- @include parts/waiting.lua
-- @include parts/lanes.lua
-- @include parts/wake.lua
-- @include parts/tag.lua
local FIRST = 9
-- Every made id is cut out of an argument, and a local is found faster.
local sub = string.sub

local status, answer = answeredBefore(callKey, callNumber, deadline)
if status then
  local reply = { status, digits(now) }
  if answer then
    local parts = string.match(answer, '^%S+ %S+ (.*)$')
    for part in string.gmatch(parts, '%S+') do reply[#reply + 1] = part end
  end
  return reply
end

local rows, chosenIds = {}, {}
local at = FIRST
while ARGV[at] do
  local row = { count = tonumber(ARGV[at]), chosen = ARGV[at + 1], head = ARGV[at + 2], due = tonumber(ARGV[at + 3]), middle = ARGV[at + 4] }
  -- Where its ids begin, and the ends.
  row.ids = at + 5
  row.ends = row.ids + (row.chosen == '' and 1 or row.count)
  if row.chosen ~= '' then
    for i = row.ids, row.ends - 1 do chosenIds[#chosenIds + 1] = ARGV[i] end
  end
  rows[#rows + 1] = row
  at = row.ends + row.count
end
-- Chosen ids that are there already, and what is stored of their jobs. An id that this caller made for this call is new.
local known = {}
if chosenIds[1] then
  for i, envelope in ipairs(redis.call('HMGET', KEYS[1], unpack(chosenIds))) do known[chosenIds[i]] = envelope end
end

-- The due time of a job that is there already: from its lane, or from its claim once it has been claimed.
local function dueOf(id, envelope)
  local _, due = findWaiting(id, envelope)
  if due then return due end
  local record = redis.call('HGET', KEYS[2], id)
  return record and string.match(record, '^%d+%l* %d+ %d+ (%d+)') or digits(now)
end

local bits, duplicates, fields, forgotten = {}, {}, {}, {}
-- Chosen ids of this call that have been taken in, and when their jobs are due.
local seen = {}
local created, bit = 0, 0
local CREATED = '\n' .. digits(now) .. ' '

-- When the job of this id is due that was there before; nil for none.
local function dueBefore(id, chosen, dueText)
  if seen[id] then return seen[id] end
  if known[id] then return dueOf(id, known[id]) end
  return (isRemembered(id) or ranUnanswered(id, chosen)) and dueText
end

local function isNew(id, chosen, dueText)
  local before = dueBefore(id, chosen, dueText)
  if before then
    duplicates[#duplicates + 1] = before
    return false
  end
  seen[id] = dueText
  forgotten[#forgotten + 1] = id
  return true
end

local function openFor(head)
  local lane = openLane(laneOfHead(head))
  if not lane.added[1] then readWakers(nameOf(lane.name)) end
  return lane
end

for _, row in ipairs(rows) do
  local count, chosen, ids, ends = row.count, row.chosen, row.ids, row.ends
  local due, middle = row.due, row.middle
  local dueText = digits(due > 0 and due or now - due)
  local beginning, tags = row.head .. CREATED .. middle, tagsOfFlags(middle)
  local madeIds, idLength = ARGV[ids], #ARGV[ids] / count
  local added, last
  for i = 0, count - 1 do
    local id = chosen == '' and sub(madeIds, i * idLength + 1, (i + 1) * idLength) or ARGV[ids + i]
    bit = bit + 1
    if chosen == '' or isNew(id, chosen, dueText) then
      if not added then
        added = openFor(row.head).added
        last = #added
      end
      added[last + 1], added[last + 2] = dueText, id
      last = last + 2
      if tags ~= '' then tagJob(id, tags) end
      created = created + 1
      fields[2 * created - 1], fields[2 * created] = id, beginning .. ARGV[ends + i]
      bits[bit] = '1'
    else
      bits[bit] = '0'
    end
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
