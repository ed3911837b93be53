-- differing: which sessions list other options than these.
-- @keys workers
-- @arg base text: what every key of the queue begins with
-- @arg digest text: of the options
-- @arg withinMs ms: how long ago a session may have been here last
-- @returns ...sessions text[]: three for each session, the one last here first: its member of `workers`, how many ms ago it was here, its options
-- @repeat it only reads.
-- @needs parts/clock.lua
local listed = redis.call('ZRANGE', workersKey, '+inf', digits(now - withinMs), 'BYSCORE', 'REV', 'WITHSCORES')
local differing, texts = {}, {}
for i = 1, #listed, 2 do
  -- A session of a version that lists no options has no digest.
  local other = string.match(listed[i], ',#(%x+)')
  if other and other ~= digest then
    texts[other] = texts[other] or redis.call('GET', base .. 'options:' .. other) or ''
    for _, each in ipairs({ listed[i], digits(now - listed[i + 1]), texts[other] }) do differing[#differing + 1] = each end
  end
end
return differing
