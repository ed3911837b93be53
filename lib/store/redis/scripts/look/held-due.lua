-- held-due: how many due jobs the next groups have that are held.
-- @node levels
-- @arg base text: what every key of the queue begins with
-- @arg from count: how many held groups to pass over
-- @arg count count: how many to look at
-- @returns looked number, due number: how many there were, and their due jobs
-- @repeat it only reads.
-- @needs parts/clock.lua
local groups, due = redis.call('ZRANGE', base .. 'held', '(' .. digits(now), '+inf', 'BYSCORE', 'LIMIT', from, count), 0
for _, group in ipairs(groups) do
  for _, member in ipairs(redis.call('ZRANGE', base .. 'groups', '[' .. group .. '\t', '(' .. group .. '\n', 'BYLEX')) do
    due = due + redis.call('ZCOUNT', base .. 'lane:' .. string.sub(member, #group + 2), '-inf', digits(now))
  end
end
return { #groups, due }
