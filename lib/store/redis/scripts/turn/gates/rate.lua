-- How many jobs may start within a time over all processes (see gate/rate.lua for the log of starts).
-- @takes settings, me, opening, rateKey
-- @gives rate
if me.limit > 0 and settings.rateMax > 0 then
  local rateWindowMs = settings.rateWindowMs
  -- @include gate/rate.lua
  local left = math.max(0, settings.rateMax - (rate.total - rate.before))
  if left <= opening.mayPass then opening.mayPass, opening.opensAt, opening.isShut = left, rate.opensAt, left == 0 end
end
