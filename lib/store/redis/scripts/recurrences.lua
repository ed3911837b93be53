-- recurrences: read recurrences.
-- @keys recurrences, timetable
-- @tail ids id: of the recurrences
-- @returns ...found text[]: two for each id: its record, its state; '' for one that there is not
-- @repeat it only reads.
local found, at = {}, idsFrom
while ARGV[at] do
  found[#found + 1] = redis.call('HGET', recurrencesKey, ARGV[at]) or ''
  found[#found + 1] = redis.call('HGET', timetableKey, ARGV[at]) or ''
  at = at + 1
end
return found
