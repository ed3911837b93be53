-- workers: which workers are alive, and who holds the running jobs, so many of these at a time.
-- KEYS[1] sq:{<queue>}:workers     ZSET "<group> <worker> <pid> <host>" -> when it was last here (epoch ms)
-- KEYS[2] sq:{<queue>}:active      ZSET job id -> end of its lease (epoch ms)
-- KEYS[3] sq:{<queue>}:claims      HASH job id -> claim record
-- ARGV[1] how long ago a worker may have been here last (ms)   ARGV[2] how many running jobs to pass over
-- ARGV[3] how many to look at, at most 5000
-- Returns {'1' if no running job is left, {two for each worker, the one last here first: member of `workers`, when it was here},
--   {two for each holder of jobs looked at: worker, how many}}.
-- Repeating it: it only reads.
-- @include parts/clock.lua
local alive = redis.call('ZRANGE', KEYS[1], '+inf', digits(now - tonumber(ARGV[1])), 'BYSCORE', 'REV', 'WITHSCORES')
local passOver, limit = tonumber(ARGV[2]), tonumber(ARGV[3])
local ids = redis.call('ZRANGE', KEYS[2], digits(passOver), digits(passOver + limit - 1))
local running, holders = {}, {}
for _, record in ipairs(ids[1] and redis.call('HMGET', KEYS[3], unpack(ids)) or {}) do
  local holder = record and string.match(record, '^[1-9]%d*%l* %d+ %d+ %d+ (%S+) ')
  if holder then running[holder] = (running[holder] or 0) + 1 end
end
for holder, count in pairs(running) do
  holders[#holders + 1] = holder
  holders[#holders + 1] = count
end
return { #ids < limit and '1' or '0', alive, holders }
