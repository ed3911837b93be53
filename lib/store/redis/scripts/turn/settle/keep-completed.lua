-- Keeps jobs that have completed, with their results (see keys.ts).
-- @needs parts/clock.lua
-- @takes completedKey, resultsKey
-- @changes keepCompleted
function keepCompleted(s)
  local numbers = s.claim.attempt .. ' ' .. digits(s.claim.due)
  if s.claim.progress ~= '' then numbers = numbers .. ' ' .. s.claim.progress end
  redis.call('HSET', resultsKey, s.id, numbers .. '\n' .. s.second .. '\n' .. (s.envelope or ''))
  redis.call('ZADD', completedKey, digits(now), s.id)
end
