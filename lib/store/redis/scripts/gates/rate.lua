-- How many jobs may start within a time over all processes (see shared/rate.lua for the log of starts).
-- @takes limit, rateMax, rateWindowMs, rateKey, now, digits
-- @gives rate
-- @changes mayPass, opensAt, isShut
if limit > 0 and rateMax > 0 then
  -- @include shared/rate.lua
  local left = math.max(0, rateMax - (rate.total - rate.before))
  if left <= mayPass then mayPass, opensAt, isShut = left, rate.opensAt, left == 0 end
end
