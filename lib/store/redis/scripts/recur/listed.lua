-- Which recurrences callers are told of: all but those that are switched off, or ended a day ago.
-- @needs parts/clock.lua, recur/record.lua
-- @gives isListed, isLongEnded
-- `state` and `changed`: the fields of a state.
function isLongEnded(state, changed)
  return state == 'e' and changed <= now - ENDED_LISTED_MS
end

-- `text`: a state as it is stored.
function isListed(text)
  local state = parseState(text)
  return state and state.state ~= 'o' and not isLongEnded(state.state, state.changed)
end
