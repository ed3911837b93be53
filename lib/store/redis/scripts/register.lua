-- register: note the names that a group of workers handles, in as many calls as they need.
-- @keys sleeping, handles:<group>
-- @arg keepMs ms: how long the names are kept unless noted again
-- @arg size count: in the first call how many names there are, 0 in the others
-- @tail names name: names
-- @returns number: how many names are noted
-- @repeat it changes nothing.
-- @include shared/clock.lua
-- More than that: other names are among them. Only then is the set emptied, or the group's workers would undo each other's calls.
local noted = redis.call('SCARD', handlesKey)
if size > 0 and noted > size then redis.call('DEL', handlesKey) end
redis.call('SADD', handlesKey, unpack(ARGV, namesFrom))
redis.call('PEXPIRE', handlesKey, keepMs)
-- Forgets groups that sleep no longer. They cost nobody anything, and each group comes by here once a day at least, so few pile up.
redis.call('ZREMRANGEBYSCORE', sleepingKey, '-inf', '(' .. digits(now))
return redis.call('SCARD', handlesKey)
