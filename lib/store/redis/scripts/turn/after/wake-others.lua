-- Wakes whoever may have something to do by what this turn has done. Last in the script, as a message cannot be taken back.
-- @needs parts/clock.lua, parts/envelope.lua, parts/lanes.lua, parts/wake/lane.lua, parts/wake/publish.lua, parts/wake/sleepers.lua
-- @takes outlook, places, isFull, ownWorker, stopped, fullNames
local toWake = outlook.toWake
for _, lane in ipairs(laneList) do
  -- Where this session goes on looking by itself, nobody else of its crew needs to.
  if lane.headDue and (lane.isFreed or lane.moved and lane.added[1]) then wakeLane(lane, outlook.limitAfter > 0 and not isFull(nameOf(lane.name)), not outlook.stopsLooking and ownWorker) end
end
if toWake.hasOrphans or toWake.handsOver or toWake.isFreed then
  for _, crew in ipairs(known.crews) do
    if toWake.hasOrphans or toWake.handsOver then wakeCrew(crew, now) end
    -- A session with capacity left has looked at all that its own crew could.
    if toWake.isFreed and not (crew == known.ownCrew and outlook.limitAfter > 0) then wakeCrew(crew, now) end
  end
end
if stopped == 'limit' or stopped == 'size' then wakeCrew(known.ownCrew, now) end
for name in pairs(fullNames) do wakeCrew(known.ownCrew, now, name) end
if toWake.preferred then
  -- As many preferred workers as there are places, and one more in case one of them has no capacity.
  local left = places.left + 1
  for _, preferred in ipairs(toWake.preferred) do
    if left == 0 then break end
    if preferred ~= ownWorker and publishTime(preferred, now) then left = left - 1 end
  end
end
-- When a pull has gone, or a worker has no place left, another session of its crew looks when this one would have; else what is due next would wait for
-- the deputy or, after two that have no place left, for whoever looks by itself.
if outlook.handOverAt ~= math.huge and known.ownCrew and known.ownCrew.sleepers then wakeCrew(known.ownCrew, outlook.handOverAt) end
