-- The members of a sorted set that are above `keepCount` or older than `keepAgeMs` (0: none is too old), oldest first, at most `most`.
-- @needs parts/clock.lua
-- @gives oldest
function oldest(key, keepCount, keepAgeMs, most)
  local over = redis.call('ZCARD', key) - keepCount
  if over > 0 then return redis.call('ZRANGE', key, 0, math.min(over, most) - 1) end
  if keepAgeMs == 0 then return {} end
  return redis.call('ZRANGE', key, '-inf', digits(now - keepAgeMs), 'BYSCORE', 'LIMIT', 0, most)
end
