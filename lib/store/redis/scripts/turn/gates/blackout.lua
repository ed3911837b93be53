-- Nothing passes in a blackout. Where the queue is paused as well, nothing passes before both are over.
-- @needs gate/blackout.lua
-- @takes opening, gate
if gate and gate.blackouts ~= '' then
  local ends = blackoutEnd(gate.blackouts)
  if ends then opening.mayPass, opening.opensAt, opening.isShut = 0, math.max(gate.pausedUntil, ends), true end
end
