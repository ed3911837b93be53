-- Writes the yields of this turn, and forgets those that are over.
-- @takes yield, yieldsKey
-- How long the yields of a queue that nobody uses any more stay.
local FORGOTTEN_YIELD_MS = 60000
if yield.over[1] then redis.call('ZREM', yieldsKey, unpack(yield.over)) end
-- A sleeper that was told is on its way: it is asked again only after it has listed itself again.
for id, crew in pairs(yield.asked) do redis.call('ZREM', crew.key, id) end
if yield.begun[1] then
  redis.call('ZADD', yieldsKey, unpack(yield.begun))
  redis.call('PEXPIRE', yieldsKey, FORGOTTEN_YIELD_MS)
end
