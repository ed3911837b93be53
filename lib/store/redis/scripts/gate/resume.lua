-- resume: let workers claim again.
-- @numbered
-- @keys gate, sleeping
-- @given clustered
-- @returns wasPaused '1' | '0': whether the queue was paused
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @include gate/gate.lua
-- @needs gate/opening.lua

local result = gate.pausedUntil > now and '1' or '0'
if result == '1' then readForOpening(now) end
redis.call('HDEL', gateKey, 'pausedUntil')
-- @include parts/answer.lua
wakeForOpening()
return { 'done', digits(now), result }
