-- remove: delete one job that does not run: a waiting one, which counts as cancelled, a dead one or a completed one that is kept.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:claims      HASH job id -> claim record
-- KEYS[3] sq:{<queue>}:failures    HASH job id -> failed attempts
-- KEYS[4] sq:{<queue>}:usedIds     ZSET chosen id of an ended job -> when it may be used again (epoch ms)
-- KEYS[5] sq:{<queue>}:stats       HASH counter -> number
-- KEYS[6] sq:{<queue>}:levels      ZSET priority -> earliest due (epoch ms)
-- KEYS[7] sq:{<queue>}:dead        ZSET job id -> when it died (epoch ms)
-- KEYS[8] sq:{<queue>}:completed   ZSET job id -> when it completed (epoch ms)
-- KEYS[9] sq:{<queue>}:results     HASH job id -> result of a kept completed job
-- KEYS[10] sq:{<queue>}:queued     HASH id of a running job -> due and envelope of the job that replaces it after the run
-- KEYS[11] sq:{<queue>}:receipt:<caller> STRING last call number and its answer
-- ARGV[1] key base   ARGV[2] call number   ARGV[3] deadline (epoch ms, 0 = none)   ARGV[4] how long the record is kept (ms)
-- ARGV[5] job id
-- Returns {status, now, '1' | '0'}: 1 if the job is deleted; 0 if it runs or is not there.
-- Repeating it after a lost reply: the record answers like the first time.
local jobsKey, claimsKey, failuresKey, usedIdsKey, statsKey, levelsKey = unpack(KEYS, 1, 6)
local deadKey, completedKey, resultsKey, queuedKey, receiptKey = unpack(KEYS, 7, 11)
local base, callNumber, deadline = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/envelope.lua
-- @include parts/waiting.lua
-- @include parts/lanes.lua
-- @include parts/untag.lua
-- @include parts/queued.lua
-- @include parts/cancel.lua

local status, answer = answeredBefore(receiptKey, callNumber, deadline)
if status then return { status, digits(now), answer } end

local id, result = ARGV[5], '1'
local envelope = redis.call('HGET', jobsKey, id)
local lane = envelope and findWaiting(id, envelope)
-- A dead job whose envelope is gone or damaged can still be deleted.
local isDead = redis.call('ZSCORE', deadKey, id)
if isDead then
  refuseOtherKinds()
  -- That of its claim record is what the index holds, where the envelope is gone.
  untagJob(id, envelope and tagsOf(envelope) or tagsOfRecord(redis.call('HGET', claimsKey, id) or ''))
  redis.call('ZREM', deadKey, id)
  redis.call('HDEL', jobsKey, id)
  redis.call('HDEL', claimsKey, id)
  redis.call('HDEL', failuresKey, id)
  redis.call('HINCRBY', statsKey, 'deadDropped', 1)
  writeUntagged()
elseif lane then
  cancelWaiting(id, envelope, lane)
  writeCancelled()
elseif not envelope and redis.call('ZSCORE', completedKey, id) then
  redis.call('ZREM', completedKey, id)
  redis.call('HDEL', resultsKey, id)
  redis.call('ZREM', usedIdsKey, id)
else
  result = '0'
end
redis.call('SET', receiptKey, ARGV[2] .. ' ' .. result, 'PX', ARGV[4])
return { 'done', digits(now), result }
