-- recurrences: read recurrences.
-- @keys recurrences, timetable
-- @tail ids id: of the recurrences
-- @returns ...found text[]: two for each id: its record, its state; '' for one that there is not, or that is not listed
-- @repeat it only reads.
-- @needs recur/listed.lua
local found, at = {}, idsFrom
while ARGV[at] do
  local state = redis.call('HGET', timetableKey, ARGV[at])
  local isKnown = state and isListed(state)
  found[#found + 1] = isKnown and redis.call('HGET', recurrencesKey, ARGV[at]) or ''
  found[#found + 1] = isKnown and state or ''
  at = at + 1
end
return found
