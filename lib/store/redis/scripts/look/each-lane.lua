-- Goes through the lanes of all levels, as many as one call may look into. The first call reads the levels, and each hands those that
-- are left to the next: so a level is walked once, however the due times of the levels change between the calls, and none is read again.
-- `eachLane` calls `look` with the name of each lane and with the cost that is left. `look` answers what looking cost, or nil to leave this
-- lane and all further ones to the next call. A level without lanes costs 1. `latest`: the latest due time that lanes begin with, '+inf' =
-- any. Answers where the next call goes on, '' = no lane is left: "<how many lanes of the first level to pass over> <levels>". Levels are
-- written as the keys of their heads end, spaces between them.
-- @takes base, levelsKey
-- @gives eachLane
local function readLevels(latest)
  local found = {}
  -- Lanes without a preferred worker, then all those with one, then those of suspects, then those of groups.
  for _, ending in ipairs({ '', ':*', ':!', ':@' }) do
    local key = ending == '' and levelsKey or base .. 'levels' .. ending
    local priorities = redis.call('ZRANGE', key, '-inf', latest, 'BYSCORE')
    if priorities[1] then found[#found + 1] = table.concat(priorities, ending .. ' ') .. ending end
  end
  return '0 ' .. table.concat(found, ' ')
end

function eachLane(from, latest, costLeft, look)
  local passOver, levels = string.match(from == '' and readLevels(latest) or from, '^(%d+) (.*)$')
  passOver = tonumber(passOver)
  local at = 1
  while at <= #levels do
    local _, last, level = string.find(levels, '^(%S+) ?', at)
    local headsKey = base .. 'heads:' .. level
    local lanes, looked = redis.call('ZCOUNT', headsKey, '-inf', latest), passOver
    if passOver >= lanes then
      costLeft = costLeft - 1
    else
      -- By rank: with BYSCORE and LIMIT, Redis would walk through all that are passed over.
      for _, head in ipairs(redis.call('ZRANGE', headsKey, passOver, math.min(passOver + costLeft, lanes) - 1)) do
        local cost = costLeft > 0 and look(string.match(head, '\t(.*)$'), costLeft)
        if not cost then break end
        costLeft, looked = costLeft - cost, looked + 1
      end
    end
    if looked < lanes then return string.format('%.0f ', looked) .. string.sub(levels, at) end
    at, passOver = last + 1, 0
    if costLeft <= 0 and at <= #levels then return '0 ' .. string.sub(levels, at) end
  end
  return ''
end
