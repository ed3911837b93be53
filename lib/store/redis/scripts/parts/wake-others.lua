-- Last in the script, as a message cannot be taken back: whoever may have something to do by what this turn has done is told.
for _, lane in ipairs(laneList) do
  -- Where this worker goes on looking by itself, nobody else of its group needs to.
  if lane.moved and lane.added[1] then wakeLane(lane, roomAfter > 0 and not isFull(nameOf(lane.name)), not goes and ownName) end
end
for _, g in ipairs(groups or {}) do
  if orphans or passesOn then wakeGroup(g, now) end
  -- Who has room left has looked at all that its own group could.
  if freed and not (g == ownGroup and roomAfter > 0) then wakeGroup(g, now) end
end
if stopped == 'room' or stopped == 'bytes' then wakeGroup(ownGroup, now) end
for name in pairs(fullNames) do wakeGroup(ownGroup, now, name) end
-- As many preferred workers as there are places, and one more in case one of them has no room.
do
  local places = globalConcurrency - activeAfter + 1
  for _, preferred in ipairs(preferredNow) do
    if places == 0 then break end
    if preferred ~= ownName then
      local heard = redis.call('PUBLISH', base .. 'wake:' .. preferred, digits(now))
      if heard > 0 or clustered then places = places - 1 end
    end
  end
end

-- When a pull has gone, another worker of its group looks when this one would have; else what is due next waited for the deputy.
if goes then
  local function handOverAt()
    -- Somebody has been told already where there was more than was claimed.
    if stopped == 'room' or stopped == 'bytes' then return math.huge end
    if returning[1] or lookAgain or goOnFrom ~= '' then return now end
    if not wasListed then return math.huge end
    -- Without room it has not looked: what became due meanwhile may still be there.
    return room > 0 and nextEvent() or firstDue()
  end

  local at = handOverAt()
  if at ~= math.huge and ownGroup and ownGroup.sleepers then wakeGroup(ownGroup, at) end
end
