-- `workers` holds the sessions that were here lately, so that others can tell who is alive, where, and which names each handles.
-- `presence`, `host`, `options`: see turn.lua.
-- @needs parts/clock.lua
-- @takes me, presence, host, options, base, sleepersKey, handlesKey
-- How long a session that has died without a word stays listed, and the list after its last one.
local FORGOTTEN_SESSION_MS = 3600000
-- How long a sleeper that is past its time stays listed, and a crew's list after its last sleeper.
local FORGOTTEN_SLEEPER_MS, FORGOTTEN_CREW_MS = 60000, 86400000
local listed, former = string.match(host, '^([^\n]*)\n?(.*)$')
local member = me.crew .. ' ' .. me.session .. ' ' .. listed
if presence == 'gone' then
  redis.call('ZREM', base .. 'workers', member)
else
  if former ~= '' then redis.call('ZREM', base .. 'workers', me.crew .. ' ' .. me.session .. ' ' .. former) end
  redis.call('ZADD', base .. 'workers', digits(now), member)
  redis.call('ZREMRANGEBYSCORE', base .. 'workers', '-inf', digits(now - FORGOTTEN_SESSION_MS))
  redis.call('PEXPIRE', base .. 'workers', FORGOTTEN_SESSION_MS)
  -- Not in every look: sleepers past their time are only in nobody's way.
  redis.call('ZREMRANGEBYSCORE', sleepersKey, '-inf', digits(now - FORGOTTEN_SLEEPER_MS))
  redis.call('PEXPIRE', sleepersKey, FORGOTTEN_CREW_MS)
  -- Or others would wake nobody of the crew, from the moment at which its names are over until it notes them again.
  redis.call('PEXPIRE', handlesKey, KEEP_NAMES_MS)
  local digest, json = string.match(options, '^(%S*) ?(.*)$')
  redis.call('SET', base .. 'options:' .. digest, json, 'PX', FORGOTTEN_SESSION_MS)
end
