-- groups: some of the groups that have jobs, a setting or a pause, and how many jobs of each wait. A group may be told in parts.
-- @node levels
-- @arg base text: what every key of the queue begins with
-- @arg walk 'waiting' | 'running' | 'settings' | 'pauses': which of these
-- @arg from text: where to go on, '' = from the start
-- @arg count count: how many entries to look at
-- @returns next text, ...found value[]: where to go on, '' = the walk is over; then two for each entry: group, how many jobs wait
-- @repeat it only reads.
-- @needs parts/clock.lua
local found = { '' }
if walk == 'waiting' or walk == 'running' then
  local groupsKey = base .. (walk == 'waiting' and 'groups' or 'runningOfGroups')
  local members = redis.call('ZRANGE', groupsKey, from == '' and '-' or '(' .. from, '+', 'BYLEX', 'LIMIT', 0, count)
  if #members == count then found[1] = members[count] end
  for _, member in ipairs(members) do
    local group, lane = string.match(member, '^([^\t]*)\t(.*)$')
    found[#found + 1] = group
    found[#found + 1] = walk == 'waiting' and redis.call('ZCARD', base .. 'lane:' .. lane) or 0
  end
elseif walk == 'settings' then
  local step = redis.call('HSCAN', base .. 'groupSettings', from == '' and '0' or from, 'COUNT', count)
  if step[1] ~= '0' then found[1] = step[1] end
  for i = 1, #step[2], 2 do found[#found + 1], found[#found + 2] = step[2][i], 0 end
else
  local rank = tonumber(from) or 0
  local groups = redis.call('ZRANGE', base .. 'groupPauses', '(' .. digits(now), '+inf', 'BYSCORE', 'LIMIT', rank, count)
  if #groups == count then found[1] = digits(rank + count) end
  for _, group in ipairs(groups) do found[#found + 1], found[#found + 2] = group, 0 end
end
return found
