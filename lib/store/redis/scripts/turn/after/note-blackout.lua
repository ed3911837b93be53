-- A blackout is over, or the clock was set back: `gate` holds the next one from now on, and those that have been over for long are forgotten.
-- @needs shared/clock.lua
-- @takes gate, gateKey, blackoutsKey, keptFrom
redis.call('ZREMRANGEBYSCORE', blackoutsKey, '-inf', digits(keptFrom))
if gate.nextBlackout == '' then
  redis.call('HDEL', gateKey, 'blackout')
else
  redis.call('HSET', gateKey, 'blackout', gate.nextBlackout)
end
