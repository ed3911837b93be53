-- The only clock of a queue: Redis' own, in whole milliseconds and in microseconds.
local time = redis.call('TIME')
local nowUs = tonumber(time[1]) * 1000000 + tonumber(time[2])
local now = math.floor(nowUs / 1000)

-- Lua prints numbers above 14 digits with an exponent; Redis must see every digit.
local function digits(number)
  return string.format('%.0f', number)
end
