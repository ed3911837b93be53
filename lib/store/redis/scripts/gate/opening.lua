-- Tells those who have seen the queue shut for longer when it opens. Read phase: `readForOpening`. Last in a script: `wakeForOpening`, which
-- does nothing where nobody was read.
-- @needs parts/clock.lua, parts/wake/publish.lua, parts/wake/sleepers.lua
-- @takes base
-- @gives readForOpening, wakeForOpening
local opens, preferred

function readForOpening(opensAt)
  readCrews()
  -- @include parts/wake/preferred.lua
  opens, preferred = opensAt, preferredOfDue
end

function wakeForOpening()
  if not opens then return end
  -- One of each: who finds more than it has room for wakes the next.
  for _, crew in ipairs(known.crews) do wakeCrew(crew, opens) end
  -- Whom a job prefers may be another one, and nobody else may run it yet.
  for _, worker in ipairs(preferred) do publishTime(worker, opens) end
end
