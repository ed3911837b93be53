-- register: note the names that a group of workers handles, in as many calls as they need.
-- KEYS[1] sq:{<queue>}:sleeping          ZSET group of workers -> until when some of it may sleep (epoch ms)
-- KEYS[2] sq:{<queue>}:handles:<group>   SET names that the group handles
-- ARGV[1] how long the names are kept unless noted again (ms)
-- ARGV[2] in the first call how many names there are (0 in the others)   ARGV[3…] names
-- Returns how many names are noted.
-- Repeating it after a lost reply: changes nothing.
-- @include parts/clock.lua
-- More than that: other names are among them. Only then is the set emptied, or the group's workers would undo each other's calls.
local size = tonumber(ARGV[2])
local noted = redis.call('SCARD', KEYS[2])
if size > 0 and noted > size then redis.call('DEL', KEYS[2]) end
redis.call('SADD', KEYS[2], unpack(ARGV, 3))
redis.call('PEXPIRE', KEYS[2], ARGV[1])
-- Forgets groups that sleep no longer. They cost nobody anything, and each group comes by here once a day at least, so few pile up.
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. digits(now))
return redis.call('SCARD', KEYS[2])
