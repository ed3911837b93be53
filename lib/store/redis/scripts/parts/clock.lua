-- The only clock of a queue: that of Redis, in whole milliseconds and in microseconds.
-- `nowWithUs`: the time in milliseconds with its µs behind a point, as text. What Redis gives as text is put together as text: to print a number takes
-- 2 000 instructions.
-- @gives now, nowUs, nowWithUs, digits
local time = redis.call('TIME')
local seconds, us = time[1], time[2]
nowUs = tonumber(seconds) * 1000000 + tonumber(us)
now = math.floor(nowUs / 1000)
if #us < 6 then us = string.rep('0', 6 - #us) .. us end
local nowText = seconds .. string.sub(us, 1, 3)
nowWithUs = nowText .. '.' .. string.sub(us, 4)

-- Lua prints numbers above 14 digits with an exponent; Redis must see every digit. What a script prints again and again is printed once.
local texts = { [now] = nowText, [0] = '0' }
function digits(number)
  local text = texts[number]
  if not text then
    -- With '%d' where it is a whole number: '%.0f' takes twice as long. Infinity is none, as what it leaves when divided is no number.
    text = string.format(number % 1 == 0 and '%d' or '%.0f', number)
    -- What is no number is no key of a table.
    if number == number then texts[number] = text end
  end
  return text
end
