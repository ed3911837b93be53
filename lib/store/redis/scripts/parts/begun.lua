-- Whether a numbered call has run before. A call that was overtaken by a later one, or has expired, ends the script here and changes
-- nothing.
-- `receipt`: that of its caller; false for none. `earlierAnswer`: the answer of this very call where it has run before; nil where it runs now.
-- @needs parts/clock.lua
-- @takes receipt, callNumber, deadline
-- @gives earlierAnswer
if receipt then
  local last = string.match(receipt, '^%d+')
  if callNumber == last then earlierAnswer = string.sub(receipt, #last + 2) end
  -- Of two numbers the one with fewer digits is lower, or that which comes first as text: to read both as numbers takes longer.
  if #callNumber < #last or #callNumber == #last and callNumber < last then return { 'overtaken', digits(now) } end
end
if not earlierAnswer and deadline > 0 and now > deadline then return { 'expired', digits(now) } end
