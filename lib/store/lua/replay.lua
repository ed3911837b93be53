-- replay: put dead jobs back into their lanes, to run from attempt 1 again; their failures stay with them.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:claims      HASH job id -> claim record
-- KEYS[3] sq:{<queue>}:dead        ZSET job id -> when it died (epoch ms)
-- KEYS[4] sq:{<queue>}:levels      ZSET priority -> earliest due (epoch ms)
-- KEYS[5] sq:{<queue>}:sleeping    ZSET group of workers -> until when some of it may sleep (epoch ms)
-- KEYS[6] sq:{<queue>}:call:<caller> STRING last call number and its answer
-- ARGV[1] key base   ARGV[2] call number   ARGV[3] deadline (epoch ms, 0 = none)   ARGV[4] how long the record is kept (ms)
-- ARGV[5] '1' on a cluster   ARGV[6] job id, or '' for the oldest   ARGV[7] how many of the oldest at the most
-- ARGV[8] only those that died by then (epoch ms, 0 = any)   ARGV[9] due of the first (> 0: at, epoch ms; <= 0: minus the delay in ms)
-- ARGV[10] how much later each next one is due (ms, may have a fraction)   ARGV[11] how many of the oldest to pass over
-- ARGV[12] how late a job must be before any worker may take it from the one that it prefers (ms)
-- Returns {status, now, "<how many were put back> <how many were looked at>"}.
-- Repeating it after a lost reply: the record answers like the first time.
local base, callNumber, deadline = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local clustered, stealAfterMs = ARGV[5] == '1', tonumber(ARGV[12])
local levelsKey, sleepingKey, callKey = KEYS[4], KEYS[5], KEYS[6]
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/envelope.lua
-- @include parts/lanes.lua
-- @include parts/wake.lua

local status, answer = answeredBefore(callKey, callNumber, deadline)
if status then return { status, digits(now), answer } end

local ids = {}
if ARGV[6] == '' then
  local diedBy = ARGV[8] == '0' and '+inf' or ARGV[8]
  ids = redis.call('ZRANGE', KEYS[3], '-inf', diedBy, 'BYSCORE', 'LIMIT', ARGV[11], ARGV[7])
elseif redis.call('ZSCORE', KEYS[3], ARGV[6]) then
  ids = { ARGV[6] }
end

local first, spacing = tonumber(ARGV[9]), tonumber(ARGV[10])
first = first > 0 and first or now - first
local back = {}
if ids[1] then
  for i, envelope in ipairs(redis.call('HMGET', KEYS[1], unpack(ids))) do
    local laneName = laneOf(envelope or '')
    -- One whose envelope cannot be read stays where it is: it could only die again.
    if laneName ~= '' then
      local lane = openLane(laneName)
      if not lane.added[1] then readWakers(nameOf(laneName)) end
      addToLane(lane, ids[i], math.floor(first + #back * spacing))
      back[#back + 1] = ids[i]
    end
  end
end
if back[1] then
  closeLanes()
  redis.call('ZREM', KEYS[3], unpack(back))
  redis.call('HDEL', KEYS[2], unpack(back))
end
local result = #back .. ' ' .. #ids
redis.call('SET', callKey, ARGV[2] .. ' ' .. result, 'PX', ARGV[4])
for _, lane in ipairs(laneList) do
  if lane.moved then wakeLane(lane) end
end
return { 'done', digits(now), result }
