-- shift-tagged: move the due times of the next jobs that carry a tag, and wait or are queued behind running ones.
-- @numbered
-- @keys jobs, levels, sleeping, tag:<tag>, queued
-- @arg clustered flag: whether Redis is a cluster
-- @arg stealAfterMs ms: how late a job must be before any worker may take it from the one that it prefers
-- @arg from text: the index in the tag after which to begin, '0' = at the first
-- @arg last text: the last index to look at, '' = that of the last job there is now
-- @arg limit count: how many jobs to look at at the most
-- @arg byMs ms: how much later they are to be due, below 0: earlier
-- @returns result text: "<index after which to go on> <last index> <how many were moved>"
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

local step = readTagged(from, last, limit)
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
redis.call('SET', receiptKey, callNumber .. ' ' .. result, 'PX', keepReceiptMs)
for _, lane in ipairs(laneList) do
  if lane.moved then wakeLane(lane) end
end
return { 'done', digits(now), result }
