-- Whether the next steps of chains that come with a turn all enter one common lane at one time, and have neither tags nor a late rule: then they are written with what
-- the turn claims of that lane. Included only where every completion of the turn counts, so `bits` are not asked.
-- `entering`: `lane`; `due`, epoch ms; `members`, two for each step: due, id; `fields`, two for each: id, envelope. nil where steps need more.
-- @needs parts/clock.lua, parts/untag.lua
-- @takes nextSteps
-- @changes entering
local delays, routes, rests = nextSteps[3], nextSteps[4], nextSteps[5]
-- Without a late rule the route is the lane.
local lane, due = routes[1], now + tonumber(delays[1])
local areOfOne = not leftSets and string.find(lane, '^%d+::')
local members, fields, dueText, beginning = {}, {}, digits(due), routes[1] .. '\n' .. digits(now) .. ' '
for i = 1, areOfOne and nextSteps.n or 0 do
  areOfOne = areOfOne and routes[i] == routes[1] and delays[i] == delays[1] and string.find(rests[i], '^%l*\n')
  local id = nextSteps[2][i]
  members[2 * i - 1], members[2 * i] = dueText, id
  fields[2 * i - 1], fields[2 * i] = id, beginning .. rests[i]
end
if areOfOne then entering = { lane = lane, due = due, members = members, fields = fields } end
