-- Which recurrences callers are told of: all but those that are switched off, or ended a day ago.
-- @takes now
-- @gives isListed, isLongEnded
-- `state` and `changed`: the fields of a state.
function isLongEnded(state, changed)
  return state == 'e' and changed <= now - ENDED_LISTED_MS
end

-- `text`: a state as it is stored.
function isListed(text)
  local state, changed = string.match(text, '^(%l) %d+ %d+ %d+ %d+ %d+ %-?%d+ (%d+)')
  return state and state ~= 'o' and not isLongEnded(state, tonumber(changed))
end
