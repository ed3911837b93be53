-- Writes the job that schedule/one-job.lua has read, the heads of its lane and level as `closeLanes` in parts/lanes.lua would write them, and ends the
-- call.
-- `isFirst`: whether it has become the first of its lane.
-- @needs parts/clock.lua
-- @takes base, oneJob, mayBeFirst, head, levelHead, levelDue, lowestMade, highestMade, jobsKey, levelsKey, statsKey, receiptKey, callNumber, keepReceiptMs
-- @gives isFirst
local id, due, lane = oneJob.id, oneJob.dueText, oneJob.lane
-- The first write adds, so that a full memory refuses the call whole.
redis.call('HSET', jobsKey, id, oneJob.envelope)
redis.call('ZADD', base .. 'lane:' .. lane, due, id)
-- Of two that are due at once, Redis tells which one is the first.
isFirst = mayBeFirst and (due ~= head[2] or redis.call('ZRANGE', base .. 'lane:' .. lane, 0, 0)[1] == id)
if isFirst then
  redis.call('ZADD', base .. 'heads:' .. oneJob.priority, due, id .. '\t' .. lane)
  if head[1] then
    redis.call('ZREM', base .. 'heads:' .. oneJob.priority, head[1] .. '\t' .. lane)
  else
    local laneName, isThere = lane, true
    -- @include parts/list-version.lua
  end
  -- Where the first head was that of this lane, the job is not due later than it was.
  local first = levelHead[2] and tonumber(levelHead[2]) < oneJob.due and levelHead[2] or due
  if first ~= levelDue then redis.call('ZADD', levelsKey, first, oneJob.priority) end
end
redis.call('HINCRBY', statsKey, 'scheduled', 1)
local result = lowestMade .. ' ' .. highestMade .. '\n' .. digits(now) .. '\n1'
-- @include parts/answer.lua
