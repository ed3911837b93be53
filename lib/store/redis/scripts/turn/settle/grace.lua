-- Whether this turn may recover jobs whose leases have run out (see recover.lua).
-- After a silence of more than half a lease (Redis was away, its clock jumped, every session froze) nobody could renew, so a lease is
-- waited before anybody is taken for dead. Renewals come every third of a lease, and idle sessions look as often: the rest is the time
-- that a reconnection may take. Recovery is not put off again within two leases, so that the only session, were it as slow as that,
-- does not put it off for ever.
-- `served`: when the queue was served last (see keys.ts); false for never.
-- `grace`:
--   servedAt     when the queue was served last, nil for never
--   stampRest    what stands behind that in `served`
--   recoverFrom  nothing is recovered before
--   postponedAt  when that was decided
--   lastToFill   the session that was the last to fill a limit of FEWEST_JOBS or more, '' where nobody holds anything
-- @needs parts/clock.lua
-- @takes settings, activeKey, served
-- @gives firstLeaseEnd, grace, isRecovering
grace = { servedAt = nil, stampRest = nil, recoverFrom = 0, postponedAt = 0, lastToFill = '' }
firstLeaseEnd = redis.call('ZRANGE', activeKey, 0, 0, 'WITHSCORES')[2]
local servedAt, stampRest = string.match(served or '', '^(%d+) (.*)$')
if servedAt then
  grace.servedAt, grace.stampRest = tonumber(servedAt), stampRest
  local from, at, filler = string.match(stampRest, '^(%d+) (%d+) ?([^\t]*)')
  if firstLeaseEnd and from then
    grace.lastToFill = filler
    -- Where the clock went forward and back, no further off than a lease.
    grace.recoverFrom, grace.postponedAt = math.min(tonumber(from), now + settings.leaseMs), math.min(tonumber(at), now)
    if now - grace.servedAt > SILENT_LEASES * settings.leaseMs and now - grace.postponedAt > PUT_OFF_AGAIN_LEASES * settings.leaseMs then
      grace.recoverFrom, grace.postponedAt = now + settings.leaseMs, now
    end
  end
end
isRecovering = firstLeaseEnd and now >= grace.recoverFrom and tonumber(firstLeaseEnd) <= now
