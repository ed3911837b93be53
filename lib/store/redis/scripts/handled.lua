-- handled: which workers that are alive handle a name.
-- KEYS[1] sq:{<queue>}:workers     ZSET "<group> <worker> <pid> <host>" -> when it was last here (epoch ms)
-- ARGV[1] key base   ARGV[2] job name   ARGV[3] how long ago a worker may have been here last (ms)
-- Returns {how many there are, a worker…}: at most ten of those that were here last.
-- Repeating it: it only reads.
local base, name = ARGV[1], ARGV[2]
-- @include parts/clock.lua
-- @include parts/handles.lua
local LISTED = 10
local handles, workers, count = {}, {}, 0
for _, member in ipairs(redis.call('ZRANGE', KEYS[1], '+inf', digits(now - tonumber(ARGV[3])), 'BYSCORE', 'REV')) do
  local group, worker = string.match(member, '^(%S+) (%S+)')
  if handles[group] == nil then handles[group] = handlesName(group, name) end
  if handles[group] then
    count = count + 1
    if count <= LISTED then workers[count] = worker end
  end
end
return { tostring(count), unpack(workers) }
