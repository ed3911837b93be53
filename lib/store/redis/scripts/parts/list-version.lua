-- Lists a lane of a version above 1 in `versioned` (see parts/lanes.lua) once it has a job, and takes it off with its last one. Not lanes of groups,
-- which nobody looks up by name: there may be many thousands of them.
-- `laneName`: a lane that has begun or ended. `isThere`: whether it has a job now.
-- @takes base, laneName, isThere
if string.find(laneName, '\31', 1, true) and not string.find(laneName, '^%d+:!?@') then
  local versionedKey = base .. 'versioned'
  -- `pcall`: a key of another type must not stop a script in the middle of its writes.
  if isThere then
    redis.pcall('ZADD', versionedKey, 0, laneName)
  else
    redis.pcall('ZREM', versionedKey, laneName)
  end
end
