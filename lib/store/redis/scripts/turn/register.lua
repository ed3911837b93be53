-- register: note the names that a crew handles, in as many calls as they need.
-- @keys sleeping, handles:<crew>
-- @arg size count: in the first call how many names there are, 0 in the others
-- @tail names name: names
-- @returns number: how many names are noted
-- @repeat it changes nothing.
-- @needs parts/clock.lua
-- Forgets crews that sleep no longer. They cost nobody anything, and each new crew comes by here, so few pile up.
-- The first write needs no memory: Redis checks its memory only at the first one, and a worker that starts with a full one is to drain the queue.
redis.call('ZREMRANGEBYSCORE', sleepingKey, '-inf', '(' .. digits(now))
-- More than that: other names are among them. Only then is the set emptied, or the crew's sessions would undo each other's calls.
local noted = redis.call('SCARD', handlesKey)
if size > 0 and noted > size then redis.call('DEL', handlesKey) end
redis.call('SADD', handlesKey, unpack(ARGV, namesFrom))
redis.call('PEXPIRE', handlesKey, KEEP_NAMES_MS)
return redis.call('SCARD', handlesKey)
