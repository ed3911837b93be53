-- gate: what keeps due jobs from being claimed though a worker has room for them: a pause, the limit of jobs that run at once
-- over all processes, and the rate at which jobs may start over all processes.
-- `rate` is a sliding log: how many jobs had started in all -> when that number was reached. What has started within a window
-- is what is reached now, less what was reached when the window began.
-- Needs `pausedKey`, `rateKey` and `rateWindowMs`.
-- @include parts/pause.lua
local function readRate()
  local rate = { total = 0, before = 0, opensAt = now + rateWindowMs }
  local latest = redis.call('ZRANGE', rateKey, 0, 0, 'REV', 'WITHSCORES')
  if not latest[1] then return rate end
  rate.latest, rate.total, rate.at = latest[1], tonumber(latest[1]), tonumber(latest[2])
  local windowStart = digits(now - rateWindowMs)
  local before = redis.call('ZRANGE', rateKey, windowStart, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1, 'WITHSCORES')
  if before[1] then rate.before, rate.beforeAt = tonumber(before[1]), before[2] end
  local first = redis.call('ZRANGE', rateKey, '(' .. windowStart, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  if first[1] then rate.opensAt = math.min(tonumber(first[2]), now) + rateWindowMs end
  return rate
end

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
