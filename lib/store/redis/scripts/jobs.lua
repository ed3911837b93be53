-- jobs: all that is known of some jobs, up to as many as one answer has room for.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:claims      HASH job id -> claim record
-- KEYS[3] sq:{<queue>}:failures    HASH job id -> failed attempts
-- KEYS[4] sq:{<queue>}:active      ZSET job id -> end of its lease (epoch ms)
-- KEYS[5] sq:{<queue>}:dead        ZSET job id -> when it died (epoch ms)
-- KEYS[6] sq:{<queue>}:completed   ZSET job id -> when it completed (epoch ms)
-- KEYS[7] sq:{<queue>}:results     HASH job id -> result of a kept completed job
-- KEYS[8] sq:{<queue>}:queued      HASH id of a running job -> due and envelope of the job that replaces it after the run
-- ARGV[1] key base   ARGV[2] after how many bytes no further job is read   ARGV[3…] job ids
-- Returns what `job` returns for each job that was read, in order: the first at least.
-- Repeating it: it only reads.
local jobsKey, claimsKey, failuresKey, activeKey, deadKey, completedKey, resultsKey = unpack(KEYS, 1, 7)
local base, bytesLeft = ARGV[1], tonumber(ARGV[2])
local queuedKey = KEYS[8]
-- @include parts/clock.lua
-- @include parts/envelope.lua
-- @include parts/waiting.lua
-- @include parts/queued.lua
-- @include parts/known.lua
local jobs = {}
for i = 3, #ARGV do
  local job = known(ARGV[i])
  jobs[#jobs + 1] = job
  for _, text in ipairs(job) do bytesLeft = bytesLeft - #text end
  if bytesLeft <= 0 then break end
end
return jobs
