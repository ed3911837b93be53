-- `workers` holds the sessions that were here lately, so that others can tell who is alive, where, and which names each handles.
-- @needs parts/clock.lua
-- @takes me, base, workersKey, sleepersKey
-- How long a session that has died without a word stays listed, and the list after its last one.
local FORGOTTEN_SESSION_MS = 3600000
-- How long a sleeper that is past its time stays listed, and a crew's list after its last sleeper.
local FORGOTTEN_SLEEPER_MS, FORGOTTEN_CREW_MS = 60000, 86400000
local listed, former = string.match(me.host, '^([^\n]*)\n?(.*)$')
local member = me.crew .. ' ' .. me.session .. ' ' .. listed
if me.presence == 'gone' then
  redis.call('ZREM', workersKey, member)
else
  if former ~= '' then redis.call('ZREM', workersKey, me.crew .. ' ' .. me.session .. ' ' .. former) end
  redis.call('ZADD', workersKey, digits(now), member)
  redis.call('ZREMRANGEBYSCORE', workersKey, '-inf', digits(now - FORGOTTEN_SESSION_MS))
  redis.call('PEXPIRE', workersKey, FORGOTTEN_SESSION_MS)
  -- Not in every look: sleepers past their time are only in nobody's way.
  redis.call('ZREMRANGEBYSCORE', sleepersKey, '-inf', digits(now - FORGOTTEN_SLEEPER_MS))
  redis.call('PEXPIRE', sleepersKey, FORGOTTEN_CREW_MS)
  local digest, options = string.match(me.options, '^(%S*) ?(.*)$')
  redis.call('SET', base .. 'options:' .. digest, options, 'PX', FORGOTTEN_SESSION_MS)
end
