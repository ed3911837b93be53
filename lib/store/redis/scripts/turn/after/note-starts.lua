-- Notes in a log of starts (see gate/rate.lua) that this turn has `started` so many jobs: has claimed or moved them.
-- @needs parts/clock.lua
-- @takes rate, rateKey, rateWindowMs, started
-- The clock went back: starts that it left ahead count as started now, or the gate would stay shut until then.
local isAhead = rate.at and rate.at > now
if started > 0 or isAhead then
  redis.call('ZADD', rateKey, digits(now), digits(rate.total + started))
  if isAhead then redis.call('ZREMRANGEBYSCORE', rateKey, '(' .. digits(now), '+inf') end
  -- One number a millisecond, so that times tell them apart.
  if rate.at == now then redis.call('ZREM', rateKey, rate.latest) end
  -- The last number before the window is what the others are counted from.
  if rate.beforeAt then redis.call('ZREMRANGEBYSCORE', rateKey, '-inf', '(' .. rate.beforeAt) end
  redis.call('PEXPIRE', rateKey, 2 * rateWindowMs)
end
