-- shift-tagged: move the due times of the next jobs that carry a tag, and wait or are queued behind running ones.
-- @numbered
-- @keys jobs, levels, sleeping, tag:<tag>, queued
-- @given clustered, settings.stealAfterMs
-- @arg from text: the index in the tag after which to begin, '0' = at the first
-- @arg last text: the last index to look at, '' = that of the last job there is now
-- @arg began epoch ms: when the first step was taken, 0 = now
-- @arg limit count: how many jobs to look at at the most
-- @arg byMs ms: how much later they are to be due, below 0: earlier
-- @returns result text: "<index after which to go on> <last index> <when the first step was taken> <how many were moved>"
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @needs parts/envelope.lua, parts/lanes.lua, parts/enter.lua, parts/untag.lua, change/tagged.lua

local freedLanes, freeGroup, endHold = {}, nil, nil
-- @include group/free-group.lua
local step = readTagged(from, last, began, limit)
local moved = 0
local function shift(due)
  return math.min(math.max(due + byMs, FIRST_INSTANT_MS), LAST_INSTANT_MS)
end
for _, job in ipairs(step.waiting) do
  local due = tonumber(job.due)
  local shifted = shift(due)
  if shifted ~= due then
    addToLane(enterLane(job.lane), job.id, shifted)
    endHold(job.id, job.lane, false)
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
local result = step.nextFrom .. ' ' .. step.walk .. ' ' .. moved
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), result }
