-- Which crew handles which versioned name (see parts/envelope.lua). EVERY_NAME: the crew of the sessions that take every name, also names that
-- nobody has used yet. A crew whose name ends in 'v' takes all versions of its names: these stand in `handles:<crew>` without one.
-- @takes base
-- @gives EVERY_NAME, handledAmong
EVERY_NAME = '*'

-- Of each of these versioned names, at least one, whether the crew handles it: 1 or 0.
function handledAmong(crew, versionedNames)
  local names, takesAll = versionedNames, crew == EVERY_NAME
  if takesAll or string.sub(crew, -1) == 'v' then
    names = {}
    for i, name in ipairs(versionedNames) do names[i] = takesAll and 1 or string.match(name, '^[^\31]*') end
  end
  return takesAll and names or redis.call('SMISMEMBER', base .. 'handles:' .. crew, unpack(names))
end
