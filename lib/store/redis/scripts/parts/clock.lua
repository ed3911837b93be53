-- The only clock of a queue: that of Redis, in whole milliseconds and in microseconds.
-- @gives now, nowUs, digits
local time = redis.call('TIME')
nowUs = tonumber(time[1]) * 1000000 + tonumber(time[2])
now = math.floor(nowUs / 1000)

-- Lua prints numbers above 14 digits with an exponent; Redis must see every digit.
local nowText
function digits(number)
  if number == now then
    -- The number that a script prints most often is printed once.
    nowText = nowText or string.format('%d', now)
    return nowText
  end
  -- As a whole number where it is one: to print it as a fraction takes twice as long. Of infinity nothing is left.
  return string.format(number % 1 == 0 and '%d' or '%.0f', number)
end
