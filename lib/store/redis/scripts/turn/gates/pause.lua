-- Nothing passes while the queue is paused.
-- `gate`: see gate/gate.lua; nil where nothing is claimed.
-- @needs parts/clock.lua
-- @takes me, opening, gateKey
-- @gives gate
if me.limit > 0 then
  -- @include gate/gate.lua
  if gate.pausedUntil > now then opening.mayPass, opening.opensAt, opening.isShut = 0, gate.pausedUntil, true end
end
