-- The earliest due time behind the due lanes of the levels of an index, which stand first in their levels and were passed over; math.huge
-- for none. `ending`: how the keys of these levels end.
-- @needs parts/clock.lua
-- @takes base, indexKey, ending
-- @gives earliestBehind
earliestBehind = math.huge
for _, priority in ipairs(redis.call('ZRANGE', indexKey, 0, -1)) do
  local head = redis.call('ZRANGE', base .. 'heads:' .. priority .. ending, '(' .. digits(now), '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  if head[2] then earliestBehind = math.min(earliestBehind, tonumber(head[2])) end
end
