-- Notes a failed attempt with its job: "<when> <attempt> <failure>", a line each.
-- @needs parts/clock.lua
-- @takes failuresKey
-- @changes noteFailure

-- `s`: a settlement whose `second` argument is the failure; `failures`, those that are there already.
function noteFailure(s)
  local line = digits(now) .. ' ' .. s.claim.attempt .. ' ' .. s.second
  local failures = s.failures and s.failures .. '\n' .. line or line
  local _, breaks = string.gsub(failures, '\n', '')
  for _ = FAILURES_KEPT, breaks do failures = string.gsub(failures, '^[^\n]*\n', '', 1) end
  redis.call('HSET', failuresKey, s.id, failures)
end
