-- Nothing passes while the queue is paused.
-- @takes limit, gateKey, now
-- @changes mayPass, opensAt, isShut
if limit > 0 then
  -- @include shared/gate.lua
  if pausedUntil > now then mayPass, opensAt, isShut = 0, pausedUntil, true end
end
