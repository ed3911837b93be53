-- shift-tagged: move the due times of the next jobs that carry a tag, and wait or are queued behind running ones.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:levels      ZSET priority -> earliest due (epoch ms)
-- KEYS[3] sq:{<queue>}:sleeping    ZSET group of workers -> until when some of it may sleep (epoch ms)
-- KEYS[4] sq:{<queue>}:tag:<tag>   ZSET job id -> its place among those of the tag
-- KEYS[5] sq:{<queue>}:queued      HASH id of a running job -> due and envelope of the job that replaces it after the run
-- KEYS[6] sq:{<queue>}:receipt:<caller> STRING last call number and its answer
-- ARGV[1] key base   ARGV[2] call number   ARGV[3] deadline (epoch ms, 0 = none)   ARGV[4] how long the record is kept (ms)
-- ARGV[5] '1' on a cluster   ARGV[6] place after which to begin (0 = at the first)   ARGV[7] last place ('' = the last one there is
-- now)   ARGV[8] how many jobs to look at at the most   ARGV[9] how much later they are to be due (ms, below 0: earlier)
-- ARGV[10] how late a job must be before any worker may take it from the one that it prefers (ms)
-- Returns {status, now, "<place after which to go on> <last place> <how many were moved>"}.
-- Repeating it after a lost reply: the record answers like the first time.
local base, callNumber, deadline = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local clustered, stealAfterMs = ARGV[5] == '1', tonumber(ARGV[10])
local jobsKey, levelsKey, sleepingKey, tagKey, queuedKey, receiptKey = unpack(KEYS, 1, 6)
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/envelope.lua
-- @include parts/waiting.lua
-- @include parts/lanes.lua
-- @include parts/wake.lua
-- @include parts/untag.lua
-- @include parts/queued.lua
-- @include parts/tagged.lua
-- Earlier instants are refused everywhere (see core/read/due.ts), and a Date can hold no later ones.
local FIRST_INSTANT, LAST_INSTANT = 1e11, 8.64e15

local status, answer = answeredBefore(receiptKey, callNumber, deadline)
if status then return { status, digits(now), answer } end

local step, byMs = readTagged(ARGV[6], ARGV[7], tonumber(ARGV[8])), tonumber(ARGV[9])
local moved = 0
local function shift(due)
  return math.min(math.max(due + byMs, FIRST_INSTANT), LAST_INSTANT)
end
for _, job in ipairs(step.waiting) do
  local due = tonumber(job.due)
  local shifted = shift(due)
  if shifted ~= due then
    local lane = openLane(job.lane)
    if not lane.added[1] then readWakers(nameOf(lane.name)) end
    addToLane(lane, job.id, shifted)
    moved = moved + 1
  end
end
closeLanes()
for _, job in ipairs(step.queued) do
  local queued = job.queued
  local shifted = shift(queued.due)
  if shifted ~= queued.due then
    redis.call('HSET', queuedKey, job.id, digits(shifted) .. ' ' .. queued.envelope)
    moved = moved + 1
  end
end
writeUntagged()
local result = step.nextFrom .. ' ' .. step.last .. ' ' .. moved
redis.call('SET', receiptKey, ARGV[2] .. ' ' .. result, 'PX', ARGV[4])
for _, lane in ipairs(laneList) do
  if lane.moved then wakeLane(lane) end
end
return { 'done', digits(now), result }
