-- A blackout is over: `gate` holds the next one from now on, and those that are over are forgotten.
-- @takes gate, gateKey, blackoutsKey, now, digits
redis.call('ZREMRANGEBYSCORE', blackoutsKey, '-inf', digits(now))
if gate.nextBlackout == '' then
  redis.call('HDEL', gateKey, 'blackout')
else
  redis.call('HSET', gateKey, 'blackout', gate.nextBlackout)
end
