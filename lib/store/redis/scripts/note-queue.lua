-- note-queue: note in the directory of queues that somebody uses one.
-- @keys queues
-- @arg name text: the queue
-- @returns text: the time of Redis (epoch ms)
-- @repeat it notes the same.
-- @include shared/clock.lua
redis.call('ZADD', queuesKey, 'GT', digits(now), name)
return digits(now)
