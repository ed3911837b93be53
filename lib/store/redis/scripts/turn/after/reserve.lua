-- Keeps this process for a suspect, or gives its reservation up.
-- @needs parts/clock.lua
-- @takes settings, suspect, wish, reservationsKey, ownWorker
if suspect ~= '' then
  -- For as long as a lease: the same turns that renew leases renew it.
  redis.call('ZADD', reservationsKey, digits(now + settings.leaseMs), ownWorker)
  redis.call('ZREMRANGEBYSCORE', reservationsKey, '-inf', digits(now))
  redis.call('PEXPIRE', reservationsKey, digits(settings.leaseMs))
elseif wish == 'claim' or wish == 'leave' then
  redis.call('ZREM', reservationsKey, ownWorker)
end
