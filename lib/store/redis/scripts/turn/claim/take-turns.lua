-- How the best job of a level is found and picked where groups take turns.
-- @needs parts/lanes.lua
-- @takes me, base, handlers, mayPass, isPassedOver, after, advance, grouping, picked, bestCommon, takeOne, take, readFirst
-- @changes best, takeBest, ofGroupsPicked, stopped
local openUnits, bestUnit, moveUnitOn
-- @include turn/claim/units.lua

function best(level)
  if not level.hasUnits then return bestCommon(level) end
  if not level.units then
    level.units = openUnits(level.key, level.sources[1] ~= nil)
    grouping.taken[#grouping.taken + 1] = level.units
  end
  local common, source = bestCommon(level)
  local unit, front = bestUnit(level.units)
  -- Then nobody else takes turns in this claim.
  level.isCommonAlone = not unit
  if unit and (not common or unit.turn < level.units.common) then return front, unit end
  return common, source
end

function takeBest(source, front, once, level)
  local units = level.units
  if source.group then
    if ofGroupsPicked >= MOST_JOBS_OF_GROUPS then
      stopped = 'size'
      return
    end
    if not takeOne(source, front, handlers and handlers[front.name]) then return end
    ofGroupsPicked = ofGroupsPicked + 1
    picked[#picked].unit, picked[#picked].overtakes = source, units.areCommonDue and units.common <= source.turn
    moveUnitOn(units, source, front, front.head and advance(front, FIRST_READ))
    return
  end
  local before = #picked
  take(source, front, once or (units ~= nil and not level.isCommonAlone))
  for i = before + 1, units and #picked or 0 do picked[i].commonOf = units end
  if units then units.common = units.common and units.common + #picked - before end
end
