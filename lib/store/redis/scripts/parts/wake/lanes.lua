-- Wakes sleepers for each lane that a job was added to and whose head has moved, or whose group was freed. A lane that only lost jobs concerns nobody, and may be
-- empty. Last in a script.
-- @needs parts/lanes.lua, parts/wake/lane.lua
for _, lane in ipairs(laneList) do
  if lane.headDue and (lane.isFreed or lane.moved and lane.added[1]) then wakeLane(lane) end
end
