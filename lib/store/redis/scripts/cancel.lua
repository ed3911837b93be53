-- cancel: take a waiting job out of its queue for good, or the one that is queued behind a running job.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:claims      HASH job id -> claim record
-- KEYS[3] sq:{<queue>}:failures    HASH job id -> failed attempts
-- KEYS[4] sq:{<queue>}:queued      HASH id of a running job -> due and envelope of the job that replaces it after the run
-- KEYS[5] sq:{<queue>}:stats       HASH counter -> number
-- KEYS[6] sq:{<queue>}:levels      ZSET priority -> earliest due (epoch ms)
-- KEYS[7] sq:{<queue>}:receipt:<caller> STRING last call number and its answer
-- ARGV[1] key base   ARGV[2] call number   ARGV[3] deadline (epoch ms, 0 = none)   ARGV[4] how long the record is kept (ms)
-- ARGV[5] job id
-- Returns {status, now, '1' | '0'}: 1 if the job was waiting or queued and will never start; 0 if it had started, ended or was never there.
-- Repeating it after a lost reply: the record answers like the first time.
local jobsKey, claimsKey, failuresKey, queuedKey, statsKey, levelsKey, receiptKey = unpack(KEYS, 1, 7)
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

local id = ARGV[5]
local envelope = redis.call('HGET', jobsKey, id)
local lane = envelope and findWaiting(id, envelope)
local queued = not lane and queuedJobs.read(id)
if lane then cancelWaiting(id, envelope, lane) end
if queued then cancelQueued(id, queued, envelope) end
writeCancelled()
local result = tostring(#cancelled + #unqueued)
redis.call('SET', receiptKey, ARGV[2] .. ' ' .. result, 'PX', ARGV[4])
return { 'done', digits(now), result }
