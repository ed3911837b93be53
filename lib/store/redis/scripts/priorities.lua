-- priorities: how many jobs wait at each priority, those of so many lanes at a time.
-- @keys levels
-- @arg base text: what every key of the queue begins with
-- @arg passOver count: how many lanes to pass over
-- @arg lanesLeft count: how many to look into at the most
-- @returns isWhole '1' | '0', ...counts value[]: isWhole: no lane is left; then three for each priority: priority, waiting in
--   the lanes looked into, due of those
-- @repeat it only reads.
-- @include shared/clock.lua
local found, whole = {}, '1'
local untilNow = digits(now)
-- By number, which is the same in every call.
local levels = {}
-- Lanes without a preferred worker, then all those with one, then those of suspects.
for _, ending in ipairs({ '', ':*', ':!' }) do
  local key = ending == '' and levelsKey or base .. 'levels' .. ending
  for _, priority in ipairs(redis.call('ZRANGE', key, 0, -1)) do
    levels[#levels + 1] = { priority = priority, key = base .. 'heads:' .. priority .. ending }
  end
end
table.sort(levels, function(a, b)
  if a.priority ~= b.priority then return tonumber(a.priority) < tonumber(b.priority) end
  return a.key < b.key
end)
for _, level in ipairs(levels) do
  local lanes = redis.call('ZCARD', level.key)
  if passOver >= lanes then
    passOver = passOver - lanes
  elseif lanesLeft <= 0 then
    whole = '0'
    break
  else
    local waiting, due = 0, 0
    local heads = redis.call('ZRANGE', level.key, passOver, passOver + lanesLeft - 1)
    for _, head in ipairs(heads) do
      local lane = string.match(head, '\t(.*)$')
      waiting = waiting + redis.call('ZCARD', base .. 'lane:' .. lane)
      due = due + redis.call('ZCOUNT', base .. 'lane:' .. lane, '-inf', untilNow)
    end
    for _, field in ipairs({ level.priority, waiting, due }) do found[#found + 1] = field end
    if passOver + #heads < lanes then whole = '0' end
    lanesLeft, passOver = lanesLeft - #heads, 0
  end
end
return { whole, unpack(found) }
