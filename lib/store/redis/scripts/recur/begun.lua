-- @takes activeKey, deadKey, usedIdsKey, completedKey
-- @gives hasBegun

-- Whether the job of an occurrence, which waits nowhere, has begun though nobody has judged it: where `gate` or the state was lost, and in
-- sessions of a build that knows no recurrences. `isThere`: whether it has an envelope. What is remembered of ended ids counts only without
-- one: whoever arms an id takes it out of the completed ones.
function hasBegun(id, isThere)
  if redis.call('ZSCORE', activeKey, id) or redis.call('ZSCORE', deadKey, id) then return true end
  return not isThere and (redis.call('ZSCORE', usedIdsKey, id) or redis.call('ZSCORE', completedKey, id))
end
