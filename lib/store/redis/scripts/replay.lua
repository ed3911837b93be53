-- replay: put dead jobs back into their lanes, to run from attempt 1 again; their failures stay with them. One job, or the oldest that
-- a filter wants.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:claims      HASH job id -> claim record
-- KEYS[3] sq:{<queue>}:failures    HASH job id -> failed attempts
-- KEYS[4] sq:{<queue>}:dead        ZSET job id -> when it died (epoch ms)
-- KEYS[5] sq:{<queue>}:levels      ZSET priority -> earliest due (epoch ms)
-- KEYS[6] sq:{<queue>}:sleeping    ZSET group of workers -> until when some of it may sleep (epoch ms)
-- KEYS[7] sq:{<queue>}:receipt:<caller> STRING last call number and its answer
-- ARGV[1] key base   ARGV[2] call number   ARGV[3] deadline (epoch ms, 0 = none)   ARGV[4] how long the record is kept (ms)
-- ARGV[5] '1' on a cluster   ARGV[6] how late a job must be before any worker may take it from the one that it prefers (ms)
-- ARGV[7] due of the first (> 0: at, epoch ms; <= 0: minus the delay in ms)
-- ARGV[8] how much later each next one is due (ms, may have a fraction)   ARGV[9] job id, or '' for the oldest
-- ARGV[10] how many to look at at the most   ARGV[11] only those that died by then (epoch ms, or +inf)
-- ARGV[12] how many to put back at the most   ARGV[13] the place to begin at ('-inf 0 ' = the oldest)
-- ARGV[14] only those that died for this reason ('' = any)   ARGV[15…] only jobs of these names (none = any)
-- Returns {status, now, "<how many were put back> <1 where no other is left to look at, else 0> <place to go on at>"}.
-- Repeating it after a lost reply: the record answers like the first time.
local base, callNumber, deadline = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local clustered, stealAfterMs = ARGV[5] == '1', tonumber(ARGV[6])
local claimsKey, failuresKey, deadKey, levelsKey, sleepingKey, receiptKey = unpack(KEYS, 2, 7)
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/envelope.lua
-- @include parts/lanes.lua
-- @include parts/wake.lua
-- @include parts/dead.lua

local status, answer = answeredBefore(receiptKey, callNumber, deadline)
if status then return { status, digits(now), answer } end

local step, ids = { from = '-inf', skipped = 0, last = '' }, {}
if ARGV[9] == '' then
  local names
  for i = 15, #ARGV do
    names = names or {}
    names[ARGV[i]] = true
  end
  step = deadWalk(ARGV[13], ARGV[11], tonumber(ARGV[10]), tonumber(ARGV[12]), names, ARGV[14])
  for _, job in ipairs(step) do
    if job.isWanted then ids[#ids + 1] = job.id end
  end
else
  local diedAt = redis.call('ZSCORE', deadKey, ARGV[9])
  if diedAt then ids, step[1] = { ARGV[9] }, { id = ARGV[9], diedAt = diedAt } end
end

local first, spacing = tonumber(ARGV[7]), tonumber(ARGV[8])
first = first > 0 and first or now - first
local back, isBack = {}, {}
if ids[1] then
  for i, envelope in ipairs(redis.call('HMGET', KEYS[1], unpack(ids))) do
    local laneName = laneOf(envelope or '')
    -- One whose envelope cannot be read stays where it is: it could only die again.
    if laneName ~= '' then
      local lane = openLane(laneName)
      if not lane.added[1] then readWakers(nameOf(laneName)) end
      addToLane(lane, ids[i], math.floor(first + #back * spacing))
      back[#back + 1], isBack[ids[i]] = ids[i], true
    end
  end
end
if back[1] then
  closeLanes()
  redis.call('ZREM', deadKey, unpack(back))
  redis.call('HDEL', claimsKey, unpack(back))
end
local result = deadAfter(step, isBack)
redis.call('SET', receiptKey, ARGV[2] .. ' ' .. result, 'PX', ARGV[4])
for _, lane in ipairs(laneList) do
  if lane.moved then wakeLane(lane) end
end
return { 'done', digits(now), result }
