-- Writes `ofGroups` (see parts/lanes.lua), when lanes are closed: whose turn is over or forgotten, and which groups have lanes, running jobs, are
-- held, have a holder, or are paused no longer.
-- @needs parts/clock.lua, parts/envelope.lua
-- @takes base, ofGroups, portion
for _, lane in ipairs(ofGroups.turnsEnded) do
  local priority = string.match(lane.name, '^%d+')
  local turnsKey = base .. 'turns:' .. priority .. ':' .. versionedNameOf(lane.name)
  local turn = not ofGroups.forgotten[priority] and redis.call('ZSCORE', turnsKey, lane.group)
  if turn then redis.call('ZREM', turnsKey, lane.group) end
  -- Its turn is remembered as far as it lies above the present.
  if turn and tonumber(turn) > tonumber(redis.call('HGET', base .. 'turning:' .. priority, 'turn') or 0) then
    redis.call('ZADD', base .. 'left:' .. priority, turn, lane.group)
  end
end
for priority, isForgotten in pairs(ofGroups.forgotten) do
  if isForgotten then
    local turning = redis.call('HGETALL', base .. 'turning:' .. priority)
    for i = 1, #turning, 2 do
      if string.sub(turning[i], 1, 1) == ':' then redis.call('UNLINK', base .. 'turns:' .. priority .. turning[i]) end
    end
    redis.call('UNLINK', base .. 'turning:' .. priority)
    redis.call('UNLINK', base .. 'left:' .. priority)
  end
end

-- The arguments of ZADD and of ZREM for a sorted set. `entries`: member -> its score, true for 0, false where it is removed.
local function split(entries)
  local added, removed = {}, {}
  for member, score in pairs(entries) do
    if score then
      added[#added + 1], added[#added + 2] = score == true and '0' or score == math.huge and 'inf' or digits(score), member
    else
      removed[#removed + 1] = member
    end
  end
  return added, removed
end

for name, entries in pairs({ groups = ofGroups.there, runningOfGroups = ofGroups.running, held = ofGroups.held }) do
  local added, removed = split(entries)
  local groupsKey = base .. name
  for i = 1, #added, PORTION do redis.call('ZADD', groupsKey, portion(added, i)) end
  for i = 1, #removed, PORTION do redis.call('ZREM', groupsKey, portion(removed, i)) end
end
local holding, released = {}, {}
for group, id in pairs(ofGroups.holders) do
  if id then holding[#holding + 1], holding[#holding + 2] = group, id else released[#released + 1] = group end
end
for i = 1, #holding, PORTION do redis.call('HSET', base .. 'holders', portion(holding, i)) end
for i = 1, #released, PORTION do redis.call('HDEL', base .. 'holders', portion(released, i)) end
if ofGroups.resumed[1] then redis.call('ZREM', base .. 'groupPauses', unpack(ofGroups.resumed)) end
