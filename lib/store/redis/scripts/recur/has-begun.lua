-- @needs recur/next.lua
-- @takes activeKey, deadKey, usedIdsKey, completedKey
-- @gives hasBegun, noteBegun

-- Whether the job of an occurrence, which waits nowhere, has begun though nobody has judged it: where `gate` was lost, and in
-- sessions of a build that knows no recurrences. `isThere`: whether it has an envelope. An ended one is known by its id, if that is
-- remembered.
function hasBegun(id, isThere)
  if redis.call('ZSCORE', activeKey, id) or redis.call('ZSCORE', deadKey, id) then return true end
  return not isThere and (redis.call('ZSCORE', usedIdsKey, id) or redis.call('ZSCORE', completedKey, id))
end

-- Notes that the armed one has begun. Whoever calls this then arms the next one (recur/arm.lua).
function noteBegun(entry, at)
  advanceTo(entry, at)
  entry.state.began, entry.state.count = at, entry.state.count + 1
end
