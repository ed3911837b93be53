-- Nothing passes while the queue is paused.
-- `gate`: see shared/gate.lua; nil where nothing is claimed.
-- @needs shared/clock.lua
-- @takes me, opening, gateKey
-- @gives gate
if me.limit > 0 then
  -- @include shared/gate.lua
  if gate.pausedUntil > now then opening.mayPass, opening.opensAt, opening.isShut = 0, gate.pausedUntil, true end
end
