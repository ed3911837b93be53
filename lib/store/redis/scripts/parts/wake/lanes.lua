-- Wakes sleepers for each lane that a job was added to and whose head has moved, or that is no longer held. A lane that only lost jobs concerns nobody, and may be
-- empty. Last in a script.
-- @needs parts/lanes.lua, parts/wake/lane.lua
for _, lane in ipairs(laneList) do
  if lane.moved and lane.headDue and (lane.added[1] or lane.isFreed) then wakeLane(lane) end
end
