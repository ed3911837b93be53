-- What keeps due jobs from being claimed though a worker has room for them: a pause, the limit of jobs that run at once
-- over all processes, and the rate at which jobs may start over all processes.
-- Needs `pausedKey`, `rateKey` and `rateWindowMs`.
-- @include parts/pause.lua
-- @include parts/rate.lua

-- Notes that so many more have started.
local function writeRate(rate, started)
  -- The clock went back: what it left ahead counts as started now, or the gate would stay shut until then.
  local isAhead = rate.at and rate.at > now
  if started == 0 and not isAhead then return end
  redis.call('ZADD', rateKey, digits(now), digits(rate.total + started))
  if isAhead then redis.call('ZREMRANGEBYSCORE', rateKey, '(' .. digits(now), '+inf') end
  -- One number a millisecond, so that times tell them apart.
  if rate.at == now then redis.call('ZREM', rateKey, rate.latest) end
  -- The last one before the window is what the others are counted from.
  if rate.beforeAt then redis.call('ZREMRANGEBYSCORE', rateKey, '-inf', '(' .. rate.beforeAt) end
  redis.call('PEXPIRE', rateKey, 2 * rateWindowMs)
end
