-- differing: which sessions list other options than these.
-- @keys workers
-- @arg options text: as they stand in a member of `workers`
-- @arg withinMs ms: how long ago a session may have been here last
-- @returns ...sessions text[]: two for each session, the one last here first: its member of `workers`, how many ms ago it was here
-- @repeat it only reads.
-- @needs parts/clock.lua
local listed = redis.call('ZRANGE', workersKey, '+inf', digits(now - withinMs), 'BYSCORE', 'REV', 'WITHSCORES')
local differing, alike = {}, ' ' .. options .. ' '
for i = 1, #listed, 2 do
  if not string.find(listed[i], alike, 1, true) then
    differing[#differing + 1] = listed[i]
    differing[#differing + 1] = digits(now - listed[i + 1])
  end
end
return differing
