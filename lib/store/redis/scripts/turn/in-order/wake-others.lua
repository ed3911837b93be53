-- Reads the sleepers that this turn wakes. `wakeOthers`: wakes them, last in the script.
-- @needs parts/clock.lua, parts/wake/sleepers.lua, parts/wake/lane.lua
-- @takes me, freed, name, stopped, outlook
-- @changes wakeOthers
known.session, known.crew = me.session, me.crew
if freed[1] then readWakers(name) end
if stopped or outlook.fills then readOwnCrew() end
function wakeOthers()
  for _, lane in ipairs(freed) do
    -- Where this session goes on looking by itself, nobody else of its crew needs to.
    if lane.headDue then wakeLane(lane, outlook.limitAfter > 0) end
  end
  if stopped then wakeCrew(known.ownCrew, now) end
  -- See turn/after/wake-others.lua.
  if outlook.handOverAt ~= math.huge then wakeCrew(known.ownCrew, outlook.handOverAt) end
end
