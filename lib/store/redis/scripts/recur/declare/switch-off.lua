-- Switches a recurrence off: what stays is the declaration that does so, and which instants were decided.
-- @needs parts/clock.lua, recur/arm.lua, recur/disarm.lua, recur/record.lua
-- @takes base
-- @gives switchOff, writeOff
local off

function switchOff(entry, owner)
  entry.state = entry.state or parseState('o 0 0 0 0 0 0 0 |-')
  disarm(entry)
  entry.state.state, entry.state.changed, entry.state.reason = 'o', now, ''
  noteChanged(entry)
  local version = math.max(now, entry.rule and tonumber(entry.rule.version) + 1 or 0)
  local record = digits(version) .. ' 0 0 0 0 s - a 0 0 off\n' .. owner .. '\n\n\n'
  entry.rule = parseRecord(record)
  off = { entry.id, record }
end

-- The first write.
function writeOff()
  if off then redis.call('HSET', base .. 'recurrences', unpack(off)) end
end
