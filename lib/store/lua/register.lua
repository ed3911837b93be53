-- register: note the names that a group of workers handles, in as many calls as they need.
-- KEYS[1] sq:{<queue>}:groups            SET groups of workers
-- KEYS[2] sq:{<queue>}:handles:<group>   SET names that the group handles
-- ARGV[1] key base   ARGV[2] group   ARGV[3] how long the names are kept unless noted again (ms)
-- ARGV[4] in the first call how many names there are (0 in the others)   ARGV[5…] names
-- Returns how many names are noted.
-- Repeating it after a lost reply: changes nothing.
local base = ARGV[1]
local gone = {}
for _, group in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  if group ~= ARGV[2] and redis.call('EXISTS', base .. 'handles:' .. group) == 0 then gone[#gone + 1] = group end
end
-- Others are among them. Not otherwise: a group's workers, which note the same names, would undo each other's calls.
local size = tonumber(ARGV[4])
local noted = redis.call('SCARD', KEYS[2])
if size > 0 and noted > size then redis.call('DEL', KEYS[2]) end
redis.call('SADD', KEYS[2], unpack(ARGV, 5))
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('SADD', KEYS[1], ARGV[2])
if gone[1] then redis.call('SREM', KEYS[1], unpack(gone)) end
return redis.call('SCARD', KEYS[2])
