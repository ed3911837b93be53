-- Lists this session among the sleepers of its crew, with the time at which it looks again.
-- @needs parts/clock.lua
-- @takes me, outlook, handlers, base, sleepersKey
local FORGOTTEN_SLEEPER_MS = 60000
-- `pcall`: see sleep.lua.
redis.pcall('ZADD', sleepersKey, digits(outlook.lookAt), me.session)
-- So that nobody tells this sleeper of a job that it cannot run.
if string.sub(me.crew, -1) == 'l' then
  local full = {}
  for name, handler in pairs(handlers or {}) do
    if handler.free <= 0 then full[#full + 1] = name end
  end
  if full[1] then
    redis.call('SET', base .. 'full:' .. me.session, '\n' .. table.concat(full, '\n') .. '\n', 'PX', FORGOTTEN_SLEEPER_MS)
  else
    redis.call('DEL', base .. 'full:' .. me.session)
  end
end
