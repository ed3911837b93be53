-- job: all that is known of one job.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:claims      HASH job id -> claim record
-- KEYS[3] sq:{<queue>}:failures    HASH job id -> failed attempts
-- KEYS[4] sq:{<queue>}:active      ZSET job id -> end of its lease (epoch ms)
-- KEYS[5] sq:{<queue>}:dead        ZSET job id -> when it died (epoch ms)
-- KEYS[6] sq:{<queue>}:completed   ZSET job id -> when it completed (epoch ms)
-- KEYS[7] sq:{<queue>}:results     HASH job id -> result of a kept completed job
-- KEYS[8] sq:{<queue>}:queued      HASH id of a running job -> due and envelope of the job that replaces it after the run
-- ARGV[1] key base   ARGV[2] job id
-- Returns {} for an unknown job, else {now, state, since or until or due (epoch ms), envelope, claim record, failures, result}
-- and, of a running job with another one queued behind it, the due time of the queued one (epoch ms).
-- The state is 'waiting', 'active', 'dead' or 'completed'.
-- Repeating it: it only reads.
local jobsKey, claimsKey, failuresKey, activeKey, deadKey, completedKey, resultsKey = unpack(KEYS, 1, 7)
local base = ARGV[1]
local queuedKey = KEYS[8]
-- @include parts/clock.lua
-- @include parts/envelope.lua
-- @include parts/waiting.lua
-- @include parts/queued.lua
-- @include parts/known.lua
return known(ARGV[2])
