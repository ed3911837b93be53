-- Writes the leases of jobs that are handed out, and the fence that all of them have.
-- `leases`: two for each job: when its lease ends, its id. `held`: two for each: its id, its claim. `startedCount`: how many jobs.
-- @needs parts/clock.lua
-- @takes leases, held, startedCount, fence, activeKey, claimsKey, statsKey, fenceKey
-- Redis keeps small hashes and sorted sets as lists, and looks through them for each of their members: with a hundred jobs
-- running that took a fifth of a turn. One long member, be it for a moment, ends that for as long as the key lives.
local MANY = 16
local LONG = startedCount >= MANY and string.rep('\n', 65)
if LONG then
  redis.call('ZADD', activeKey, 0, LONG)
  redis.call('HSET', claimsKey, LONG, LONG)
end
redis.call('ZADD', activeKey, unpack(leases))
redis.call('HSET', claimsKey, unpack(held))
if LONG then
  redis.call('ZREM', activeKey, LONG)
  redis.call('HDEL', claimsKey, LONG)
end
redis.call('HINCRBY', statsKey, 'started', startedCount)
redis.call('SET', fenceKey, digits(fence))
