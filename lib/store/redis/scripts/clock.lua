-- clock: tell the time of the Redis that holds the queue.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope (named so that a cluster asks the right node; not read)
-- Returns epoch ms.
-- Repeating it: it only reads.
-- @include parts/clock.lua
return digits(now)
