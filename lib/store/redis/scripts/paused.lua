-- paused: whether the queue is paused, and until when.
-- KEYS[1] sq:{<queue>}:paused      STRING until when nothing is claimed (epoch ms, or 'inf')
-- Returns until when (epoch ms, or 'inf'), '' where it is not paused.
-- Repeating it: it only reads.
local pausedKey = KEYS[1]
-- @include parts/clock.lua
-- @include parts/pause.lua
local ends = pausedUntil()
if ends <= now then return '' end
return ends == math.huge and 'inf' or digits(ends)
