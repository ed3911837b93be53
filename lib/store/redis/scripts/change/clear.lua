-- clear: look at the next jobs of the queue, and take those that wait, or are queued behind running ones, out of it for good.
-- A walk through `jobs` rather than through the lanes: it comes to each job that is there from beginning to end, however lanes
-- change meanwhile, and knows nothing of ids in a lane that are no jobs, on which a walk by heads would never get past.
-- @numbered
-- @keys jobs, claims, failures, queued, stats, levels, sleeping
-- @arg cursor text: where to go on, '0' = from the start
-- @arg limit count: about how many jobs to look at
-- @arg scheduledBy epoch ms: only jobs that were scheduled by then, 0 = by now
-- @given clustered, settings.stealAfterMs, settings.keepEnded
-- @returns result text, ...completions text[]: "<how many were cancelled> <where to go on, 0 = the walk is over> <bytes of what was looked at>
--   <by when, epoch ms>" and, a tab before each, the ids of recurrences that are to be tended. Then as of cancel.lua
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @needs parts/waiting.lua, parts/queued.lua, change/cancel-waiting.lua, parts/endings.lua
-- A small hash is walked in one step, however small a step is asked for. What is above this is left for another walk: the
-- caller begins anew until one has found nothing.
local CANCELLED_A_CALL = 500

local madeBy = scheduledBy == 0 and now or scheduledBy
-- One that somebody has damaged is in no lane that could be told.
local function wasMadeInTime(envelope)
  local madeAt = string.match(envelope, '^[^\n]*\n(%d+)')
  -- The completion job of a set whose last members this very call clears away is to stay.
  if madeAt and tonumber(madeAt) == madeBy and string.find(envelope, '^[^\n]*\n[^\n]*\n[^\n]*\ts"') then return false end
  return madeAt and tonumber(madeAt) <= madeBy
end

local step = redis.call('HSCAN', jobsKey, cursor, 'COUNT', limit)
local goOn, fields, bytes = step[1], step[2], 0
local someQueued = redis.call('HLEN', queuedKey) > 0
for i = 1, #fields, 2 do
  local id, envelope = fields[i], fields[i + 1]
  bytes = bytes + #envelope
  if #cancelled + #unqueued == CANCELLED_A_CALL then break end
  local lane, due = findWaiting(id, envelope)
  local queued = someQueued and not lane and readQueued(id)
  if lane and wasMadeInTime(envelope) then
    cancelWaiting(id, envelope, lane)
    noteEnding(id, envelope, due, '"clear"')
  elseif queued then
    bytes = bytes + #queued.envelope
    if wasMadeInTime(queued.envelope) then cancelQueued(id, queued, envelope) end
  end
end
-- The first write needs no memory: Redis checks its memory only at the first one, and a full memory is a reason to clear a queue.
redis.call('PEXPIRE', receiptKey, keepReceiptMs)
writeCancelled()
writeEndings()
local result = #cancelled + #unqueued .. ' ' .. goOn .. ' ' .. bytes .. ' ' .. digits(madeBy)
for _, id in ipairs(skipped) do result = result .. '\t' .. id end
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), result, unpack(completions or {}) }
