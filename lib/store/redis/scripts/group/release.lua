-- Puts a held group back: its lanes are unseen again, so the next claim gives it its turn, or holds it anew for another reason. One that is
-- paused stays held until the pause ends. `released`: the lanes, where they have due jobs.
-- `letGo`: a waiting job of the group ends, or is moved: under `'fifo'` it may be what holds the group.
-- Read phase; `closeLanes` writes.
-- @needs parts/clock.lua, parts/envelope.lua, parts/lanes.lua, parts/enter.lua
-- @takes base, released
-- @changes releaseGroup, letGo, ofGroups

-- Its lanes, for which sleepers are woken: also those of suspects, which take no turns, and of names that this session does not handle.
local function freeLanes(group)
  local lanes = {}
  for i, member in ipairs(redis.call('ZRANGE', base .. 'groups', '[' .. group .. '\t', '(' .. group .. '\n', 'BYLEX')) do
    lanes[i] = enterLane(string.sub(member, #group + 2))
    lanes[i].isFreed = true
  end
  return lanes
end

function releaseGroup(group)
  -- @include parts/touch-groups.lua
  local paused = tonumber(redis.call('ZSCORE', base .. 'groupPauses', group) or 0)
  if paused > now then
    ofGroups.held[group] = paused
    return
  end
  if paused > 0 then ofGroups.resumed[#ofGroups.resumed + 1] = group end
  ofGroups.held[group] = false
  for _, lane in ipairs(freeLanes(group)) do
    lane.isReleased = true
    if lane.takesTurns and lane.headId and tonumber(lane.headDue) <= now then released[#released + 1] = lane end
  end
end

-- `ends`: it leaves the queue; false where only its due time changes.
function letGo(id, laneName, ends)
  local group = groupOf(laneName)
  if not group or redis.call('HGET', base .. 'holders', group) ~= id then return end
  -- @include parts/touch-groups.lua
  if ends then ofGroups.holders[group] = false end
  if redis.call('ZSCORE', base .. 'held', group) then
    releaseGroup(group)
  elseif ends then
    -- It was due, so its group stood in the turns; but no other job of it could start.
    freeLanes(group)
  end
end
