-- A step through a sorted set whose scores do not change, in order: no member is met twice. A place is "<score> <member>" of the last one
-- that was met, and holds also where that one has gone.
-- @needs parts/clock.lua
-- @gives walkStep

-- Lua compares texts by the language that Redis runs in, sorted sets by their bytes.
local function isBehind(member, other)
  for i = 1, math.min(#member, #other) do
    local a, b = string.byte(member, i), string.byte(other, i)
    if a ~= b then return a > b end
  end
  return #member > #other
end

-- How many members stand up to a place.
local function rankOf(key, place)
  local score, last = string.match(place, '^(%S+) (.*)$')
  score = tonumber(score)
  local low, high = 0, redis.call('ZCARD', key)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local each = redis.call('ZRANGE', key, middle, middle, 'WITHSCORES')
    local its = tonumber(each[2])
    if its > score or (its == score and isBehind(each[1], last)) then high = middle else low = middle + 1 end
  end
  return low
end

-- Appends ids to `found`; answers where to go on, '' where the walk is over.
function walkStep(key, from, size, found)
  local rank = from == '' and 0 or rankOf(key, from)
  local step = redis.call('ZRANGE', key, rank, rank + size - 1, 'WITHSCORES')
  for i = 1, #step, 2 do found[#found + 1] = step[i] end
  return #step < 2 * size and '' or digits(tonumber(step[#step])) .. ' ' .. step[#step - 1]
end
