-- purge: delete the oldest dead jobs, with all that is known of them.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:claims      HASH job id -> claim record
-- KEYS[3] sq:{<queue>}:failures    HASH job id -> failed attempts
-- KEYS[4] sq:{<queue>}:dead        ZSET job id -> when it died (epoch ms)
-- KEYS[5] sq:{<queue>}:stats       HASH counter -> number
-- KEYS[6] sq:{<queue>}:call:<caller> STRING last call number and its answer
-- ARGV[1] key base   ARGV[2] call number   ARGV[3] deadline (epoch ms, 0 = none)   ARGV[4] how long the record is kept (ms)
-- ARGV[5] how many at the most   ARGV[6] only those that died by then (epoch ms, 0 = any)
-- Returns {status, now, how many were deleted}.
-- Repeating it after a lost reply: the record answers like the first time.
local base, callNumber, deadline = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local callKey = KEYS[6]
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/untag.lua

local status, answer = answeredBefore(callKey, callNumber, deadline)
if status then return { status, digits(now), answer } end

local diedBy = ARGV[6] == '0' and '+inf' or ARGV[6]
local ids = redis.call('ZRANGE', KEYS[4], '-inf', diedBy, 'BYSCORE', 'LIMIT', 0, ARGV[5])
if ids[1] then
  for i, record in ipairs(redis.call('HMGET', KEYS[2], unpack(ids))) do untagJob(ids[i], tagsOfRecord(record or '')) end
  redis.call('ZREM', KEYS[4], unpack(ids))
  redis.call('HDEL', KEYS[1], unpack(ids))
  redis.call('HDEL', KEYS[2], unpack(ids))
  redis.call('HDEL', KEYS[3], unpack(ids))
  redis.call('HINCRBY', KEYS[5], 'deadDropped', #ids)
  writeUntagged()
end
redis.call('SET', callKey, ARGV[2] .. ' ' .. #ids, 'PX', ARGV[4])
return { 'done', digits(now), tostring(#ids) }
