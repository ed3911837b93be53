-- replace: schedule one job, or, where its id waits already, put this payload and due time in the place of the old ones.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:claims      HASH job id -> claim record
-- KEYS[3] sq:{<queue>}:failures    HASH job id -> failed attempts
-- KEYS[4] sq:{<queue>}:ended       ZSET chosen id of an ended job -> when it may be used again (epoch ms)
-- KEYS[5] sq:{<queue>}:stats       HASH counter -> number
-- KEYS[6] sq:{<queue>}:completed   ZSET id of a kept completed job -> when it completed (epoch ms)
-- KEYS[7] sq:{<queue>}:finished    HASH id of a kept completed job -> its record
-- KEYS[8] sq:{<queue>}:levels      ZSET priority -> earliest due (epoch ms)
-- KEYS[9] sq:{<queue>}:groups      SET groups of workers
-- KEYS[10] sq:{<queue>}:call:<caller> STRING last call number and its answer
-- ARGV[1] key base   ARGV[2] call number   ARGV[3] deadline (epoch ms, 0 = none)   ARGV[4] how long the record is kept (ms)
-- ARGV[5] '1' on a cluster   ARGV[6] job id   ARGV[7] head of the envelope   ARGV[8] due (> 0: at, epoch ms; <= 0: minus the delay in ms)
-- ARGV[9] how the id was chosen ('c', or 'm' in the form of a made one)   ARGV[10] the envelope from its flags on
-- ARGV[11] how late a job must be before any worker may take it from the one that it prefers (ms)
-- Returns {status, now, '1' | '0', due}: 1 if the job was created, 0 if the id was there; due is the one that now holds.
-- Repeating it after a lost reply: the record answers like the first time.
local base, callNumber, deadline = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local clustered, stealAfterMs = ARGV[5] == '1', tonumber(ARGV[11])
local endedKey, levelsKey, groupsKey, callKey = KEYS[4], KEYS[8], KEYS[9], KEYS[10]
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/made.lua
-- @include parts/envelope.lua
-- @include parts/waiting.lua
-- @include parts/lanes.lua
-- @include parts/wake.lua
-- @include parts/tag.lua
-- @include parts/untag.lua

local status, answer = answeredBefore(callKey, callNumber, deadline)
if status then
  local created, due = string.match(answer or '', '^(%d) (%d+)$')
  return { status, digits(now), created, due }
end

-- Those tags that stand only in the first: with one that stays a job keeps its place.
local function without(some, others)
  return (string.gsub(some, '\t[^\t]+', function(tag)
    if string.find(others .. '\t', tag .. '\t', 1, true) then return '' end
  end))
end

local id, due = ARGV[6], tonumber(ARGV[8])
due = due > 0 and due or now - due
local envelope = redis.call('HGET', KEYS[1], id)
local waiting = envelope and findWaiting(id, envelope)
local record = not waiting and envelope and redis.call('HGET', KEYS[2], id)
local ranBefore = not envelope and (isRemembered(id) or ranUnanswered(id, ARGV[9]))
local lane
if waiting or not (envelope or ranBefore) then
  lane = openLane(laneOfHead(ARGV[7]))
  readWakers(nameOf(lane.name))
  if waiting and waiting ~= lane.name then takeFromLane(openLane(waiting), id) end
  addToLane(lane, id, due)
  local before, after = waiting and tagsOf(envelope) or '', tagsOfFlags(ARGV[10])
  untagJob(id, without(before, after))
  tagJob(id, without(after, before))
  redis.call('HSET', KEYS[1], id, ARGV[7] .. '\n' .. digits(now) .. ' ' .. ARGV[10])
  closeLanes()
  writeTagged()
  writeUntagged()
  redis.call('HDEL', KEYS[2], id)
  redis.call('HDEL', KEYS[3], id)
  if not waiting then
    redis.call('HINCRBY', KEYS[5], 'scheduled', 1)
    redis.call('ZREM', endedKey, id)
    redis.call('ZREM', KEYS[6], id)
    redis.call('HDEL', KEYS[7], id)
  end
elseif record then
  due = tonumber(string.match(record, '^%d+%l* %d+ %d+ (%d+)'))
end
local created = (lane and not waiting) and '1' or '0'
redis.call('SET', callKey, ARGV[2] .. ' ' .. created .. ' ' .. digits(due), 'PX', ARGV[4])
if lane and lane.moved then wakeLane(lane) end
return { 'done', digits(now), created, digits(due) }
