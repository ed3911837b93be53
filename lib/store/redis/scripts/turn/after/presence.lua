-- `workers` holds the sessions that were here lately, so that others can tell who is alive, where, and which names each handles.
-- @takes presence, host, group, session, workersKey, now, digits
-- How long a session that has died without a word stays listed, and the list after its last one.
local FORGOTTEN_SESSION_MS = 3600000
local member = group .. ' ' .. session .. ' ' .. host
if presence == 'gone' then
  redis.call('ZREM', workersKey, member)
else
  redis.call('ZADD', workersKey, digits(now), member)
  redis.call('ZREMRANGEBYSCORE', workersKey, '-inf', digits(now - FORGOTTEN_SESSION_MS))
  redis.call('PEXPIRE', workersKey, FORGOTTEN_SESSION_MS)
end
