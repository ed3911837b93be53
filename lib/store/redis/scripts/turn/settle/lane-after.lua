-- Where jobs go on after crashes.
-- @needs parts/envelope.lua
-- @takes settings
-- @gives laneAfter

-- The lane in which a job with so many crashes waits: with one crash left it is a suspect (see turn/claim/suspects.lua).
function laneAfter(lane, crashes)
  return settings.maxCrashes > 1 and crashes >= settings.maxCrashes - 1 and suspectLane(lane) or lane
end
