-- Nothing passes in a blackout. Where the queue is paused as well, nothing passes before both are over.
-- @needs shared/clock.lua
-- @takes opening, gate, blackoutsKey
-- @gives keptFrom
if gate and gate.blackout ~= '' then
  -- @include shared/blackout.lua
  if blackout and blackout.isOn then
    opening.mayPass, opening.opensAt, opening.isShut = 0, gate.pausedUntil > now and math.max(gate.pausedUntil, blackout.to) or blackout.to, true
  end
end
