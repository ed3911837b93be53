-- The only clock of a queue: that of Redis, in whole milliseconds and in microseconds.
-- @gives now, nowUs, digits
local time = redis.call('TIME')
nowUs = tonumber(time[1]) * 1000000 + tonumber(time[2])
now = math.floor(nowUs / 1000)

-- Lua prints numbers above 14 digits with an exponent; Redis must see every digit.
function digits(number)
  return string.format('%.0f', number)
end
