-- `leaveTurns`: takes a held group out of the turns of all priorities. It skips the priority `but` ('' for none), which its caller sees to,
-- and those whose turns are `forgotten`. A turn that lies above the present is remembered in `left` (see turn/claim/units.lua). Answers whether
-- the group had a turn anywhere. Write phase.
-- @takes base
-- @changes leaveTurns
local priorities

function leaveTurns(group, but, forgotten)
  if not priorities then
    priorities = {}
    for _, level in ipairs(redis.call('ZRANGE', base .. 'levels:' .. '@', 0, -1)) do
      priorities[string.match(level, '^%d+')] = true
    end
  end
  local hadSome = false
  for priority in pairs(priorities) do
    local found, present, turn = priority ~= but and not forgotten[priority] and redis.call('HGETALL', base .. 'turning:' .. priority) or {}, 0, nil
    for i = 1, #found, 2 do
      local name = string.match(found[i], '^:(.*)$')
      if name then
        local turnsKey = base .. 'turns:' .. priority .. ':' .. name
        local stored = redis.call('ZSCORE', turnsKey, group)
        if stored then
          turn = stored
          redis.call('ZREM', turnsKey, group)
        end
      elseif found[i] == 'turn' then
        present = tonumber(found[i + 1])
      end
    end
    hadSome = hadSome or turn ~= nil
    if turn and tonumber(turn) > present then redis.call('ZADD', base .. 'left:' .. priority, turn, group) end
  end
  return hadSome
end
