-- Writes the job that schedule/one-job.lua has read, and ends the call.
-- `isFirst`: whether it has become the first of its lane.
-- @needs parts/clock.lua
-- @takes base, oneJob, mayBeFirst, head, heads, levelDue, lowestMade, highestMade, jobsKey, levelsKey, statsKey, receiptKey, callNumber, keepReceiptMs
-- @gives isFirst
local id, due, lane = oneJob.id, oneJob.dueText, oneJob.lane
-- The first write adds, so that a full memory refuses the call whole.
redis.call('HSET', jobsKey, id, oneJob.envelope)
redis.call('ZADD', base .. 'lane:' .. lane, due, id)
-- Of two that are due at once, Redis tells which one is the first.
isFirst = mayBeFirst and (due ~= head[2] or redis.call('ZRANGE', base .. 'lane:' .. lane, 0, 0)[1] == id)
if isFirst then
  redis.call('ZADD', base .. 'heads:' .. oneJob.level, due, id .. '\t' .. lane)
  if head[1] then redis.call('ZREM', base .. 'heads:' .. oneJob.level, head[1] .. '\t' .. lane) end
  -- Where the first head was that of this lane, the job is due before it.
  local first = heads[2] and tonumber(heads[2]) < oneJob.due and heads[2] or due
  if first ~= levelDue then redis.call('ZADD', levelsKey, first, oneJob.level) end
end
redis.call('HINCRBY', statsKey, 'scheduled', 1)
local result = lowestMade .. ' ' .. highestMade .. '\n' .. digits(now) .. '\n1'
-- @include parts/answer.lua
