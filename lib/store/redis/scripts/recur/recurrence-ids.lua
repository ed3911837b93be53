-- recurrence-ids: walk through the ids of the recurrences that are listed.
-- @keys timetable
-- @arg cursor text: where to go on, '0' = from the start
-- @arg limit count: about how many to look at
-- @returns next text, ...ids text[]: where to go on, '0' = the walk is over; an id may come twice
-- @repeat it only reads.
-- @needs recur/listed.lua
local step = redis.call('HSCAN', timetableKey, cursor, 'COUNT', limit)
local answer = { step[1] }
for i = 1, #step[2], 2 do
  if isListed(step[2][i + 1]) then answer[#answer + 1] = step[2][i] end
end
return answer
