-- Writes what has become of the jobs whose leases had run out; those that end or die are among the settlements.
-- @needs parts/lanes.lua, turn/claims.lua
-- @takes decided, activeKey, claimsKey, statsKey, noteFailure
redis.call('ZREM', activeKey, unpack(decided.expired))
for _, s in ipairs(decided.returning) do
  addToLane(openLane(s.claim.lane), s.id, s.claim.due)
  redis.call('HSET', claimsKey, s.id, unheldClaim(s.claim))
  if s.second then noteFailure(s) end
end
redis.call('HINCRBY', statsKey, 'recovered', #decided.expired)
