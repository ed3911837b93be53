-- paused: whether the queue is paused, and until when.
-- @keys gate
-- @returns text: until when (epoch ms, or 'inf'), '' where it is not paused
-- @repeat it only reads.
-- @needs parts/clock.lua
-- @include gate/gate.lua
if gate.pausedUntil <= now then return '' end
return gate.pausedUntil == math.huge and 'inf' or digits(gate.pausedUntil)
