-- Opens the lane that a job is about to enter, and reads the sleepers that may have to be woken for the job. Read phase.
-- @needs parts/envelope.lua, parts/lanes.lua, parts/wake/sleepers.lua
-- @gives enterLane
function enterLane(laneName)
  local lane = openLane(laneName)
  readWakers(versionedNameOf(laneName))
  return lane
end
