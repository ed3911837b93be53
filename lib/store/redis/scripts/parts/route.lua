-- What the scripts read of a new envelope that arrives in pieces: its route, and the rest of it from the flags on.
-- @gives laneOfRoute, tagsOfFlags
local BYTE_9 = 57

function laneOfRoute(route)
  return string.byte(route) <= BYTE_9 and route or string.match(route, '^%l%d+ (.*)$')
end

-- The tags behind the flags, a tab before each; '' for none.
function tagsOfFlags(flags)
  return string.match(flags, '^%l*(\t[^\n]*)') or ''
end
