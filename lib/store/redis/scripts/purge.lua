-- purge: delete the oldest dead jobs that a filter wants, with all that is known of them.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:claims      HASH job id -> claim record
-- KEYS[3] sq:{<queue>}:failures    HASH job id -> failed attempts
-- KEYS[4] sq:{<queue>}:dead        ZSET job id -> when it died (epoch ms)
-- KEYS[5] sq:{<queue>}:stats       HASH counter -> number
-- KEYS[6] sq:{<queue>}:receipt:<caller> STRING last call number and its answer
-- ARGV[1] key base   ARGV[2] call number   ARGV[3] deadline (epoch ms, 0 = none)   ARGV[4] how long the record is kept (ms)
-- ARGV[5] how many to look at at the most   ARGV[6] only those that died by then (epoch ms, or +inf)
-- ARGV[7] how many to delete at the most   ARGV[8] the place to begin at ('-inf 0 ' = the oldest)
-- ARGV[9] only those that died for this reason ('' = any)   ARGV[10…] only jobs of these names (none = any)
-- Returns {status, now, "<how many were deleted> <1 where no other is left to look at, else 0> <place to go on at>"}.
-- Repeating it after a lost reply: the record answers like the first time.
local base, callNumber, deadline = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local claimsKey, failuresKey, deadKey, receiptKey = KEYS[2], KEYS[3], KEYS[4], KEYS[6]
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/untag.lua
-- @include parts/dead.lua

local status, answer = answeredBefore(receiptKey, callNumber, deadline)
if status then return { status, digits(now), answer } end

local names
for i = 10, #ARGV do
  names = names or {}
  names[ARGV[i]] = true
end
local step = deadWalk(ARGV[8], ARGV[6], tonumber(ARGV[5]), tonumber(ARGV[7]), names, ARGV[9])
local ids, isTaken = {}, {}
for _, job in ipairs(step) do
  if job.isWanted then ids[#ids + 1], isTaken[job.id] = job.id, true end
end
if ids[1] then
  for i, record in ipairs(redis.call('HMGET', claimsKey, unpack(ids))) do untagJob(ids[i], tagsOfRecord(record or '')) end
  redis.call('ZREM', deadKey, unpack(ids))
  redis.call('HDEL', KEYS[1], unpack(ids))
  redis.call('HDEL', claimsKey, unpack(ids))
  redis.call('HDEL', failuresKey, unpack(ids))
  redis.call('HINCRBY', KEYS[5], 'deadDropped', #ids)
  writeUntagged()
end
local result = deadAfter(step, isTaken)
redis.call('SET', receiptKey, ARGV[2] .. ' ' .. result, 'PX', ARGV[4])
return { 'done', digits(now), result }
