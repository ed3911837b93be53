-- resume: let workers claim again.
-- @numbered
-- @keys gate, sleeping
-- @given clustered
-- @returns wasPaused '1' | '0': whether the queue was paused
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @include gate/gate.lua
-- @needs parts/wake/publish.lua, parts/wake/sleepers.lua

local result = gate.pausedUntil > now and '1' or '0'
local preferred, opensAt = {}, now
if result == '1' then
  readCrews()
  -- @include parts/wake/preferred.lua
  preferred = preferredOfDue
end
redis.call('HDEL', gateKey, 'pausedUntil')
-- @include parts/answer.lua
-- One of each: who finds more than it has room for wakes the next.
for _, crew in ipairs(known.crews or {}) do wakeCrew(crew, now) end
-- Whom a job prefers may be another one, and nobody else may run it yet.
for _, worker in ipairs(preferred) do publish(worker, digits(now)) end
return { 'done', digits(now), result }
