-- Which crew handles which versioned name (see parts/envelope.lua). EVERY_NAME: the crew of the sessions that take every name, also names that
-- nobody has used yet. A crew whose name ends in 'v' takes all versions of its names: these stand in `handles:<crew>` without one.
-- @takes base
-- @gives EVERY_NAME, takesAllVersions, handlesName, handledAmong
EVERY_NAME = '*'

function takesAllVersions(crew)
  return string.sub(crew, -1) == 'v'
end

function handlesName(crew, versionedName)
  if crew == EVERY_NAME then return true end
  local name = takesAllVersions(crew) and string.match(versionedName, '^[^\31]*') or versionedName
  return redis.call('SISMEMBER', base .. 'handles:' .. crew, name) == 1
end

-- Of each of these versioned names, at least one, whether the crew handles it: 1 or 0. Not for the crew of every name.
function handledAmong(crew, versionedNames)
  local names = versionedNames
  if takesAllVersions(crew) then
    names = {}
    for i, name in ipairs(versionedNames) do names[i] = string.match(name, '^[^\31]*') end
  end
  return redis.call('SMISMEMBER', base .. 'handles:' .. crew, unpack(names))
end
