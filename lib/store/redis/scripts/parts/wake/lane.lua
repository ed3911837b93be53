-- Wakes sleepers for a lane whose head has moved. A preferred worker is told of the due time of its job, the others of the time from which
-- they may steal the job; but where nobody hears the preferred worker's messages that worker is gone, and the others are told at once.
-- @needs parts/clock.lua, parts/envelope.lua, parts/wake/publish.lua, parts/wake/sleepers.lua
-- @takes settings
-- @gives wakeLane

-- `skipOwn`: leaves out the crew of the session whose turn this is. `ownWorker`: the worker that need not be told, as this is its turn.
function wakeLane(lane, skipOwn, ownWorker)
  local preferred, due = preferredOf(lane.name), math.max(tonumber(lane.headDue), lane.freeAt or 0)
  if preferred ~= '' then
    local isHeard = preferred == ownWorker or publishTime(preferred, math.max(due, now))
    if isHeard then due = due + settings.stealAfterMs end
  end
  local name, versionedName = nameOf(lane.name), versionedNameOf(lane.name)
  for _, crew in ipairs(known.crews) do
    if crew.handles[versionedName] and not (crew == known.ownCrew and skipOwn) then wakeCrew(crew, due, name) end
  end
end
