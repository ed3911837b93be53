-- One caller has one call in flight, numbered from 1; its record holds the number and the answer of the last one.
-- A call that arrives again is answered from the record; one that was overtaken or comes too late is refused.
local function answeredBefore(receiptKey, number, deadline)
  local record = redis.call('GET', receiptKey)
  if record then
    local last, answer = string.match(record, '^(%d+) (.*)$')
    if number == tonumber(last) then return 'replayed', answer end
    if number < tonumber(last) then return 'overtaken' end
  end
  if deadline > 0 and now > deadline then return 'expired' end
  return nil
end
