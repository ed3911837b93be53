-- reschedule: give a waiting job, or the one that is queued behind a running job, another due time.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:levels      ZSET priority -> earliest due (epoch ms)
-- KEYS[3] sq:{<queue>}:sleeping    ZSET group of workers -> until when some of it may sleep (epoch ms)
-- KEYS[4] sq:{<queue>}:queued      HASH id of a running job -> due and envelope of the job that replaces it after the run
-- KEYS[5] sq:{<queue>}:receipt:<caller> STRING last call number and its answer
-- ARGV[1] key base   ARGV[2] call number   ARGV[3] deadline (epoch ms, 0 = none)   ARGV[4] how long the record is kept (ms)
-- ARGV[5] '1' on a cluster   ARGV[6] job id   ARGV[7] due (> 0: at, epoch ms; <= 0: minus the delay in ms)
-- ARGV[8] how late a job must be before any worker may take it from the one that it prefers (ms)
-- Returns {status, now, '1' | '0'}: 1 if the job was waiting or queued and is now due then; 0 if it had started, ended or was never there.
-- Repeating it after a lost reply: the record answers like the first time.
local base, callNumber, deadline = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local clustered, stealAfterMs = ARGV[5] == '1', tonumber(ARGV[8])
local levelsKey, sleepingKey, queuedKey, receiptKey = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/envelope.lua
-- @include parts/waiting.lua
-- @include parts/lanes.lua
-- @include parts/wake.lua
-- @include parts/queued.lua

local status, answer = answeredBefore(receiptKey, callNumber, deadline)
if status then return { status, digits(now), answer } end

local id, due = ARGV[6], tonumber(ARGV[7])
due = due > 0 and due or now - due
local envelope = redis.call('HGET', KEYS[1], id)
local result = '0'
local laneName, lane = envelope and findWaiting(id, envelope), nil
if laneName then
  result = '1'
  lane = openLane(laneName)
  readWakers(nameOf(lane.name))
  addToLane(lane, id, due)
  closeLanes()
else
  local queued = queuedJobs.read(id)
  if queued then
    result = '1'
    redis.call('HSET', queuedKey, id, digits(due) .. ' ' .. queued.envelope)
  end
end
redis.call('SET', receiptKey, ARGV[2] .. ' ' .. result, 'PX', ARGV[4])
if lane and lane.moved then wakeLane(lane) end
return { 'done', digits(now), result }
