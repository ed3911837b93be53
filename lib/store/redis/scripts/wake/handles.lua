-- Which group handles which name. EVERY_NAME: the group of the sessions that take every name, also names that nobody has used yet.
-- @takes base
-- @gives EVERY_NAME, handlesName
EVERY_NAME = '*'

function handlesName(group, name)
  return group == EVERY_NAME or redis.call('SISMEMBER', base .. 'handles:' .. group, name) == 1
end
