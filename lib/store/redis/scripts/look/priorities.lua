-- priorities: how many jobs wait at each priority, those of so many lanes at a time.
-- @keys levels
-- @arg base text: what every key of the queue begins with
-- @arg from text: where to go on, '' = from the start
-- @arg costLeft count: how many lanes to look into at the most
-- @returns next text, ...counts value[]: where to go on, '' = no lane is left; then three for each priority that was met: priority,
--   waiting in the lanes looked into, due of those
-- @repeat it only reads.
-- @needs parts/clock.lua, look/each-lane.lua
local untilNow = digits(now)
local priorities, waiting, due = {}, {}, {}
local goOn = eachLane(from, '+inf', costLeft, function(lane)
  local priority = string.match(lane, '^%d+')
  if not waiting[priority] then
    priorities[#priorities + 1] = priority
    waiting[priority], due[priority] = 0, 0
  end
  waiting[priority] = waiting[priority] + redis.call('ZCARD', base .. 'lane:' .. lane)
  due[priority] = due[priority] + redis.call('ZCOUNT', base .. 'lane:' .. lane, '-inf', untilNow)
  return 1
end)
local answer = { goOn }
for _, priority in ipairs(priorities) do
  for _, field in ipairs({ priority, waiting[priority], due[priority] }) do answer[#answer + 1] = field end
end
return answer
