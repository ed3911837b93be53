-- placement: how many jobs the queue has, and how many of them stand where somebody finds them: in a lane that the index leads to, under a
--   lease, or among the dead. Each stands in one of these, so the numbers differ only where Redis has lost something.
-- @keys jobs, active, dead, levels, workers, stats
-- @arg base text: what every key of the queue begins with
-- @arg most count: how many lanes to look into at the most
-- @arg withinMs ms: how long ago a session may have been here last
-- @arg session text: id of the session that asks: only a session of the process that is first by name of those that are here gets an answer; '' = always answered
-- @returns isKnown '1' | '0', jobs number, placed number, counted number: isKnown: 0 where another process is to ask, or there are more
--   lanes; counted: how many there are by the counters of the queue
-- @repeat it only reads.
-- @needs parts/clock.lua, look/each-lane.lua
local unknown = { '0', 0, 0, 0 }
if session ~= '' then
  -- Whichever session of a process is the first in a minute asks for it. A pull or a relay has the id of its worker before the '~'.
  local process = string.match(session, '^[^~]*')
  for _, member in ipairs(redis.call('ZRANGE', workersKey, digits(now - withinMs), '+inf', 'BYSCORE')) do
    if (string.match(member, '^%S+ ([^ ~]*)') or process) < process then return unknown end
  end
end
local placed = redis.call('ZCARD', activeKey) + redis.call('ZCARD', deadKey)
local goOn = eachLane('', '+inf', most, function(lane)
  placed = placed + redis.call('ZCARD', base .. 'lane:' .. lane)
  return 1
end)
if goOn ~= '' then return unknown end
local counted = 0
for i, count in ipairs(redis.call('HMGET', statsKey, 'scheduled', 'completed', 'cancelled', 'discarded', 'deadDropped')) do
  counted = counted + (i == 1 and 1 or -1) * (tonumber(count) or 0)
end
return { '1', redis.call('HLEN', jobsKey), placed, counted }
