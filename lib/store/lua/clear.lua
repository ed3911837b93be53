-- clear: take the waiting jobs among the next so many jobs of the queue out of it for good.
-- A walk through `jobs` rather than through the lanes: it comes to each job that is there from beginning to end, however lanes
-- change meanwhile, and knows nothing of ids in a lane that are no jobs, on which a walk by heads would never get past.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:claims      HASH job id -> claim record
-- KEYS[3] sq:{<queue>}:failures    HASH job id -> failed attempts
-- KEYS[4] sq:{<queue>}:ended       ZSET chosen id of an ended job -> when it may be used again (epoch ms)
-- KEYS[5] sq:{<queue>}:stats       HASH counter -> number
-- KEYS[6] sq:{<queue>}:levels      ZSET priority -> earliest due (epoch ms)
-- KEYS[7] sq:{<queue>}:call:<caller> STRING last call number and its answer
-- ARGV[1] key base   ARGV[2] call number   ARGV[3] deadline (epoch ms, 0 = none)   ARGV[4] how long the record is kept (ms)
-- ARGV[5] how long a chosen id is remembered (ms)   ARGV[6] where to go on ('0' = from the start)   ARGV[7] about how many to look at
-- ARGV[8] only jobs that were scheduled by then (epoch ms, 0 = by now)
-- Returns {status, now, "<how many were cancelled> <where to go on, 0 = the walk is over> <bytes of what was looked at> <by when, epoch ms>"}.
-- Repeating it after a lost reply: the record answers like the first time.
local jobsKey, claimsKey, failuresKey, endedKey, statsKey, levelsKey, callKey = unpack(KEYS, 1, 7)
local base, callNumber, deadline, keepIdsMs = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[5])
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/envelope.lua
-- @include parts/waiting.lua
-- @include parts/lanes.lua
-- @include parts/untag.lua
-- @include parts/cancel.lua
-- A small hash is walked in one step, however small a step is asked for. What is above this is left for another walk: the
-- caller begins anew until one has found nothing.
local CANCELLED_A_CALL = 500

local status, answer = answeredBefore(callKey, callNumber, deadline)
if status then return { status, digits(now), answer } end

local madeBy = ARGV[8] == '0' and now or tonumber(ARGV[8])
-- One that somebody has damaged is in no lane that could be told.
local function wasMadeInTime(envelope)
  local madeAt = string.match(envelope, '^[^\n]*\n(%d+)')
  return madeAt and tonumber(madeAt) <= madeBy
end

local step = redis.call('HSCAN', jobsKey, ARGV[6], 'COUNT', ARGV[7])
local goOn, fields, bytes = step[1], step[2], 0
for i = 1, #fields, 2 do
  local id, envelope = fields[i], fields[i + 1]
  bytes = bytes + #envelope
  local lane = wasMadeInTime(envelope) and findWaiting(id, envelope)
  if lane then
    if #cancelled == CANCELLED_A_CALL then break end
    cancelWaiting(id, envelope, lane)
  end
end
-- First a write that needs no memory: Redis only looks at the first, and a full memory is a reason to clear a queue.
redis.call('PEXPIRE', callKey, ARGV[4])
writeCancelled()
local result = #cancelled .. ' ' .. goOn .. ' ' .. bytes .. ' ' .. digits(madeBy)
redis.call('SET', callKey, ARGV[2] .. ' ' .. result, 'PX', ARGV[4])
return { 'done', digits(now), result }
