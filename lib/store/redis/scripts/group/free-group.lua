-- `freeGroup`: holds a group no longer. Its lanes are unseen again, so the next claim gives the group its turn, or holds it anew for another
-- reason. A paused group stays held until its pause ends.
-- `freedLanes`: those of these lanes that have due jobs.
-- `endHold`: a waiting job ends, is replaced, or gets another due time. Under `'fifo'` it may be the holder of its group.
-- Both belong to the read phase; `closeLanes` writes.
-- @needs parts/clock.lua, parts/envelope.lua, parts/lanes.lua, parts/enter.lua
-- @takes base, freedLanes
-- @changes freeGroup, endHold, ofGroups

-- Opens the lanes of a group, so that sleepers are woken for each of them: also for those of suspects, which take no turns, and for those of
-- names that this session does not handle.
local function lanesToWake(group)
  local lanes = {}
  for i, member in ipairs(redis.call('ZRANGE', base .. 'groups', '[' .. group .. '\t', '(' .. group .. '\n', 'BYLEX')) do
    lanes[i] = enterLane(string.sub(member, #group + 2))
    lanes[i].isFreed = true
  end
  return lanes
end

local areSomePaused
function freeGroup(group)
  -- @include parts/touch-groups.lua
  if areSomePaused == nil then areSomePaused = redis.call('ZCARD', base .. 'groupPauses') > 0 end
  local paused = areSomePaused and tonumber(redis.call('ZSCORE', base .. 'groupPauses', group) or 0) or 0
  if paused > now then
    ofGroups.held[group] = paused
    return
  end
  if paused > 0 then ofGroups.resumed[#ofGroups.resumed + 1] = group end
  ofGroups.held[group] = false
  for _, lane in ipairs(lanesToWake(group)) do
    lane.isReindexed = true
    if lane.takesTurns and lane.headId and tonumber(lane.headDue) <= now then freedLanes[#freedLanes + 1] = lane end
  end
end

-- `ends`: the job holds its group no longer; false where only its due time changes.
function endHold(id, laneName, ends)
  local group = groupOf(laneName)
  if not group or redis.call('HGET', base .. 'holders', group) ~= id then return end
  -- @include parts/touch-groups.lua
  if ends then ofGroups.holders[group] = false end
  if redis.call('ZSCORE', base .. 'held', group) then
    freeGroup(group)
  elseif ends then
    -- The holder was due, so its group was not held. But nobody was woken for the other jobs of the group, as none of them could start.
    lanesToWake(group)
  end
end
