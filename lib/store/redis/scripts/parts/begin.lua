-- Begins a numbered call. A caller has one call in flight, and its receipt holds the number and the answer of its last call. A call
-- that was overtaken by a later one, or has expired, ends the script here and changes nothing.
-- `earlierAnswer`: the answer of this very call where it has run before; nil where it runs now.
-- @needs parts/clock.lua
-- @takes receiptKey, callNumber, deadline
-- @gives earlierAnswer
local receipt = redis.call('GET', receiptKey)
if receipt then
  local last, answer = string.match(receipt, '^(%d+) (.*)$')
  if callNumber == tonumber(last) then earlierAnswer = answer end
  if callNumber < tonumber(last) then return { 'overtaken', digits(now) } end
end
if not earlierAnswer and deadline > 0 and now > deadline then return { 'expired', digits(now) } end
