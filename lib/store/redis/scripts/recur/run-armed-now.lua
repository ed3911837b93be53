-- A backfill may name the instant that is armed. Its job is detached from the rule and due now: left with the rule, the next turn could
-- discard it as missed. Only where the instant is over: one to come is left to the rule.
-- @needs parts/clock.lua, parts/enter.lua, parts/lanes.lua, parts/waiting.lua, recur/arm.lua, recur/add-beside-rule.lua, recur/next.lua
-- @takes jobsKey
-- @gives runArmedNow, armBehind

-- False where the job of that instant is not armed, or does not wait.
function runArmedNow(entry, at)
  local id = entry.id .. '@' .. digits(at)
  if entry.state.state ~= 'a' or entry.state.armed ~= at or at > now or wereAdded[id] then return false end
  local envelope = redis.call('HGET', jobsKey, id)
  local lane = envelope and findWaiting(id, envelope)
  if not lane then return false end
  addToLane(enterLane(lane), id, now)
  wereAdded[id] = true
  return true
end

-- Arms the first instant behind the armed one that the call does not name. `isNamed`: instant -> true.
function armBehind(entry, isNamed)
  local at = entry.state.armed
  repeat
    advanceTo(entry, at)
    at = nextAfter(entry, at)
  until not isNamed[at or 0]
  armNext(entry)
end
