-- Wakes sleepers for each lane whose head has moved. Last in a script.
-- @takes laneList, wakeLane
for _, lane in ipairs(laneList) do
  if lane.moved then wakeLane(lane) end
end
