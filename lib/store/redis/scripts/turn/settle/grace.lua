-- Whether this turn may recover jobs whose leases have run out (see recover.lua).
-- After a silence of more than half a lease (Redis was away, its clock jumped, every session froze) nobody could renew, so a lease is
-- waited before anybody is taken for dead. Renewals come every third of a lease, and idle sessions look as often: the rest is the time
-- that a reconnection may take. Recovery is not put off again within two leases, so that the only session, were it as slow as that,
-- does not put it off for ever.
-- `served`: when the queue was served last (see keys.ts); false for never.
-- `firstLeaseEnd`: when the first lease ends, nil where nothing runs.
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
firstLeaseEnd = tonumber(redis.call('ZRANGE', activeKey, 0, 0, 'WITHSCORES')[2])
local servedAt, stampRest = string.match(served or '', '^(%d+) (.*)$')
if servedAt then
  grace.servedAt, grace.stampRest = tonumber(servedAt), stampRest
  -- As turn/after/finish.lua writes it where nothing has been put off, and nobody has filled a limit: mostly.
  local isPlain = stampRest == '0 0 '
  local from, at, filler
  if firstLeaseEnd and not isPlain then from, at, filler = string.match(stampRest, '^(%d+) (%d+) ?([^\t]*)') end
  if from then
    grace.lastToFill = filler
    -- Where the clock went forward and back, no further off than a lease.
    grace.recoverFrom, grace.postponedAt = math.min(tonumber(from), now + settings.leaseMs), math.min(tonumber(at), now)
  end
  if firstLeaseEnd and (isPlain or from) then
    if now - grace.servedAt > SILENT_LEASES * settings.leaseMs and now - grace.postponedAt > PUT_OFF_AGAIN_LEASES * settings.leaseMs then
      grace.recoverFrom, grace.postponedAt = now + settings.leaseMs, now
    end
  end
end
isRecovering = firstLeaseEnd and now >= grace.recoverFrom and firstLeaseEnd <= now
