-- Whether leases have run out that this turn may recover (see recover.lua).
-- After a silence of more than half a lease (Redis was away, its clock jumped, every worker froze) nobody could renew, so a
-- lease is waited before anybody is taken for dead. Renewals come every third of a lease, and idle workers look as often:
-- what is left is the time that a reconnection may take. Not again within two leases, so that the only worker, were it
-- as slow as that, does not postpone for ever.

local recoverFrom, postponedAt = 0, 0
-- The worker that was the last to fill sixteen places or more; not known where nobody holds anything.
local lastToFill = ''
local firstLeaseEnd = redis.call('ZRANGE', activeKey, 0, 0, 'WITHSCORES')[2]

if firstLeaseEnd then
  local servedAt, from, at, filler = string.match(redis.call('GET', servedKey) or '', '^(%d+) (%d+) (%d+) ?(.*)$')
  if servedAt then
    lastToFill = filler
    -- Where the clock went forward and back, no further off than a lease.
    recoverFrom, postponedAt = math.min(tonumber(from), now + leaseMs), math.min(tonumber(at), now)
    if now - tonumber(servedAt) > leaseMs / 2 and now - postponedAt > 2 * leaseMs then
      recoverFrom, postponedAt = now + leaseMs, now
    end
  end
end
local isRecovering = firstLeaseEnd and now >= recoverFrom and tonumber(firstLeaseEnd) <= now
