-- clock: tell the time of the Redis that holds the queue.
-- @node jobs
-- @returns text: epoch ms
-- @repeat it only reads.
-- @needs parts/clock.lua
return digits(now)
