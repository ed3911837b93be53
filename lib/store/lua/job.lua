-- job: all that is known of one job.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:claims      HASH job id -> claim record
-- KEYS[3] sq:{<queue>}:failures    HASH job id -> failed attempts
-- KEYS[4] sq:{<queue>}:active      ZSET job id -> end of its lease (epoch ms)
-- KEYS[5] sq:{<queue>}:dead        ZSET job id -> when it died (epoch ms)
-- KEYS[6] sq:{<queue>}:completed   ZSET job id -> when it completed (epoch ms)
-- KEYS[7] sq:{<queue>}:finished    HASH job id -> record of a completed job
-- KEYS[8] sq:{<queue>}:queued      HASH id of a running job -> due and envelope of the job that replaces it after the run
-- ARGV[1] key base   ARGV[2] job id
-- Returns {} for an unknown job, else {now, state, since or until or due (epoch ms), envelope, claim record, failures, finished record} and, of a
-- running job behind which another is queued, that one's due time (epoch ms):
-- state is 'waiting', 'active', 'dead' or 'completed'.
-- Repeating it: it only reads.
local base, id = ARGV[1], ARGV[2]
local queuedKey = KEYS[8]
-- @include parts/clock.lua
-- @include parts/envelope.lua
-- @include parts/waiting.lua
-- @include parts/queued.lua
local envelope = redis.call('HGET', KEYS[1], id)
if not envelope then
  local completedAt = redis.call('ZSCORE', KEYS[6], id)
  if not completedAt then return {} end
  return { digits(now), 'completed', completedAt, '', '', '', redis.call('HGET', KEYS[7], id) or '' }
end
local record, failures = redis.call('HGET', KEYS[2], id) or '', redis.call('HGET', KEYS[3], id) or ''
local leaseUntil = redis.call('ZSCORE', KEYS[4], id)
if leaseUntil then
  local queued = string.find(record, '^%d+%l*q') and queuedJobs.read(id)
  return { digits(now), 'active', leaseUntil, envelope, record, failures, '', queued and digits(queued.due) }
end
local diedAt = redis.call('ZSCORE', KEYS[5], id)
if diedAt then return { digits(now), 'dead', diedAt, envelope, record, failures, '' } end
local _, due = findWaiting(id, envelope)
return { digits(now), 'waiting', due or digits(now), envelope, record, failures, '' }
