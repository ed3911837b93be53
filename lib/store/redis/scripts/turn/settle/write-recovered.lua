-- Writes what has become of the jobs whose leases had run out; those that end or die are among the settlements.
-- @takes expired, returning, activeKey, claimsKey, statsKey, openLane, addToLane, unheldClaim, noteFailure
redis.call('ZREM', activeKey, unpack(expired))
for _, s in ipairs(returning) do
  addToLane(openLane(s.claim.lane), s.id, s.claim.due)
  redis.call('HSET', claimsKey, s.id, unheldClaim(s.claim))
  if s.second then noteFailure(s) end
end
redis.call('HINCRBY', statsKey, 'recovered', #expired)
