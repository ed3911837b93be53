-- A sliding log of starts: how many jobs had started in all -> when that number was reached. The starts within a window are the latest
-- number less the one that had been reached when the window began.
-- `rate`: `total`, all starts, and `latest`, the same as text; `at`, when that was reached; `before`, those before the window, and
-- `beforeAt`, when these were reached; `opensAt`, when the first start leaves the window.
-- @needs parts/clock.lua
-- @takes rateKey, rateWindowMs
-- @gives rate
rate = { total = 0, before = 0, opensAt = now + rateWindowMs }
local latest = redis.call('ZRANGE', rateKey, 0, 0, 'REV', 'WITHSCORES')
if latest[1] then
  rate.latest, rate.total, rate.at = latest[1], tonumber(latest[1]), tonumber(latest[2])
  local windowStart = digits(now - rateWindowMs)
  local before = redis.call('ZRANGE', rateKey, windowStart, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, 1, 'WITHSCORES')
  if before[1] then rate.before, rate.beforeAt = tonumber(before[1]), before[2] end
  local first = redis.call('ZRANGE', rateKey, '(' .. windowStart, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  if first[1] then rate.opensAt = math.min(tonumber(first[2]), now) + rateWindowMs end
end
