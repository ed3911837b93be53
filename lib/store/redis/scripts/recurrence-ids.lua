-- recurrence-ids: walk through the ids of the recurrences that are listed.
-- @keys timetable
-- @arg cursor text: where to go on, '0' = from the start
-- @arg limit count: about how many to look at
-- @arg endedSince epoch ms: those that ended before are not listed
-- @returns next text, ...ids text[]: where to go on, '0' = the walk is over; an id may come twice
-- @repeat it only reads.
local step = redis.call('HSCAN', timetableKey, cursor, 'COUNT', limit)
local answer = { step[1] }
for i = 1, #step[2], 2 do
  local state, changed = string.match(step[2][i + 1], '^(%l) %d+ %d+ %d+ %d+ %d+ %-?%d+ (%d+)')
  if state and state ~= 'o' and (state ~= 'e' or tonumber(changed) > endedSince) then answer[#answer + 1] = step[2][i] end
end
return answer
