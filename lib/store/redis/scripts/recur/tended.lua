-- Has the recurrences of the queue looked after. `tendAt` stands in `gate` while there are any; where somebody, or an eviction, has taken it,
-- the next call about a recurrence brings it back.
-- @needs parts/clock.lua
-- @takes gateKey
-- @gives beTended
local isTended = redis.call('HGET', gateKey, 'tendAt')

function beTended()
  if not isTended then redis.call('HSET', gateKey, 'tendAt', digits(now)) end
end
