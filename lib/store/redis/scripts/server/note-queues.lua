-- note-queues: note in the directory of queues that somebody uses some.
-- @keys queues
-- @tail names name: the queues
-- @returns text: the time of Redis (epoch ms)
-- @repeat it notes the same.
-- @needs parts/clock.lua
for i = namesFrom, #ARGV do redis.call('ZADD', queuesKey, 'GT', digits(now), ARGV[i]) end
return digits(now)
