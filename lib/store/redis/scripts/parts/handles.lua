-- The group of those that take every name, also names that nobody has used yet. Needs `base`.
local EVERY_NAME = '*'

local function handlesName(group, name)
  return group == EVERY_NAME or redis.call('SISMEMBER', base .. 'handles:' .. group, name) == 1
end
