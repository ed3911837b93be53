-- Adds occurrences beside the rule of a recurrence, due now.
-- @needs parts/clock.lua, parts/route.lua, schedule/admit.lua, parts/enter.lua, parts/lanes.lua, parts/tag.lua, recur/listed.lua
-- @takes jobsKey, usedIdsKey
-- @gives isThere, wereAdded, addBesideRule

-- Whether it is listed.
function isThere(entry)
  local state = entry.rule and entry.state
  return state and state.state ~= 'o' and not isLongEnded(state.state, state.changed)
end

-- Ids of jobs that are added here: id -> true.
wereAdded = {}

-- False where the id of that instant is known.
function addBesideRule(entry, at)
  local id = entry.id .. '@' .. digits(at)
  local forgetAt = tonumber(redis.call('ZSCORE', usedIdsKey, id) or 0)
  if wereAdded[id] or forgetAt > now or redis.call('HEXISTS', jobsKey, id) == 1 then return false end
  wereAdded[id] = true
  local route, rest = entry.rule.route, entry.rule.rest
  addToLane(enterLane(laneOfRoute(route)), id, now)
  local tags = string.match(rest, '^ %l*(\t[^\n]*)')
  if tags then tagJob(id, tags) end
  local fields = admitted.fields
  fields[#fields + 1] = id
  fields[#fields + 1] = route .. '\n' .. digits(now) .. rest
  admitted.chosenIds[#admitted.chosenIds + 1] = id
  return true
end
