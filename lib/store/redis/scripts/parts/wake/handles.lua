-- Which crew handles which name. EVERY_NAME: the crew of the sessions that take every name, also names that nobody has used yet.
-- @takes base
-- @gives EVERY_NAME, handlesName
EVERY_NAME = '*'

function handlesName(crew, name)
  return crew == EVERY_NAME or redis.call('SISMEMBER', base .. 'handles:' .. crew, name) == 1
end
