-- paused: whether the queue is paused, and until when.
-- KEYS[1] sq:{<queue>}:gate        HASH what keeps the whole queue shut: `pausedUntil` -> until when nothing is claimed (epoch ms, or 'inf')
-- Returns until when (epoch ms, or 'inf'), '' where it is not paused.
-- Repeating it: it only reads.
local gateKey = KEYS[1]
-- @include parts/clock.lua
-- @include shared/gate.lua
if pausedUntil <= now then return '' end
return pausedUntil == math.huge and 'inf' or digits(pausedUntil)
