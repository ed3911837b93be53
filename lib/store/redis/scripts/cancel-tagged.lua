-- cancel-tagged: take the next jobs that carry a tag, and wait or are queued behind running ones, out of their queue for good.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:claims      HASH job id -> claim record
-- KEYS[3] sq:{<queue>}:failures    HASH job id -> failed attempts
-- KEYS[4] sq:{<queue>}:queued      HASH id of a running job -> due and envelope of the job that replaces it after the run
-- KEYS[5] sq:{<queue>}:stats       HASH counter -> number
-- KEYS[6] sq:{<queue>}:levels      ZSET priority -> earliest due (epoch ms)
-- KEYS[7] sq:{<queue>}:tag:<tag>   ZSET job id -> its place among those of the tag
-- KEYS[8] sq:{<queue>}:receipt:<caller> STRING last call number and its answer
-- ARGV[1] key base   ARGV[2] call number   ARGV[3] deadline (epoch ms, 0 = none)   ARGV[4] how long the record is kept (ms)
-- ARGV[5] place after which to begin (0 = at the first)   ARGV[6] last place ('' = the last one there is now)
-- ARGV[7] how many jobs to look at at the most
-- Returns {status, now, "<place after which to go on> <last place>" and, a tab before each, the ids of the cancelled jobs}.
-- Repeating it after a lost reply: the record answers like the first time.
local jobsKey, claimsKey, failuresKey, queuedKey, statsKey, levelsKey, tagKey, receiptKey = unpack(KEYS, 1, 8)
local base, callNumber, deadline = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/envelope.lua
-- @include parts/waiting.lua
-- @include parts/lanes.lua
-- @include parts/untag.lua
-- @include parts/queued.lua
-- @include parts/cancel.lua
-- @include parts/tagged.lua

local status, answer = answeredBefore(receiptKey, callNumber, deadline)
if status then return { status, digits(now), answer } end

local step = readTagged(ARGV[5], ARGV[6], tonumber(ARGV[7]))
for _, job in ipairs(step.waiting) do cancelWaiting(job.id, job.envelope, job.lane) end
for _, job in ipairs(step.queued) do cancelQueued(job.id, job.queued, job.envelope) end
-- The first write needs no memory: Redis checks its memory only at the first one, and a full memory must not keep jobs from being cancelled.
redis.call('PEXPIRE', receiptKey, ARGV[4])
writeCancelled()
local result = { step.nextFrom .. ' ' .. step.last, unpack(cancelled) }
for _, id in ipairs(unqueued) do result[#result + 1] = id end
result = table.concat(result, '\t')
redis.call('SET', receiptKey, ARGV[2] .. ' ' .. result, 'PX', ARGV[4])
return { 'done', digits(now), result }
