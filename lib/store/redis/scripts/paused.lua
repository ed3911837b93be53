-- paused: whether the queue is paused, and until when.
-- @keys paused
-- @returns text: until when (epoch ms, or 'inf'), '' where it is not paused
-- @repeat it only reads.
-- @include parts/clock.lua
-- @include parts/pause.lua
local ends = pausedUntil()
if ends <= now then return '' end
return ends == math.huge and 'inf' or digits(ends)
