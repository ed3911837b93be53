-- Nothing passes while the queue is paused.
-- `gate`: see shared/gate.lua; nil where nothing is claimed.
-- @takes limit, gateKey, now
-- @gives gate
-- @changes mayPass, opensAt, isShut
if limit > 0 then
  -- @include shared/gate.lua
  if gate.pausedUntil > now then mayPass, opensAt, isShut = 0, gate.pausedUntil, true end
end
