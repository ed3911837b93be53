-- held-due: how many due jobs the next groups have that are held.
-- @node levels
-- @arg base text: what every key of the queue begins with
-- @arg groupsRule text: what holds for each group (see group/state.lua)
-- @arg from count: how many held groups to pass over
-- @arg count count: how many to look at
-- @returns looked number, due number: how many there were, and the due jobs of those that are held still
-- @repeat it only reads.
-- @needs parts/clock.lua
local runsJobs, leaving, stateOf = true, {}, nil
-- Nothing is written.
local ofGroups = { running = {}, held = {}, holders = {} }
-- @include group/state.lua
local groups, due = redis.call('ZRANGE', base .. 'held', from, from + count - 1), 0
for _, group in ipairs(groups) do
  local members = stateOf(group).free > 0 and {} or redis.call('ZRANGE', base .. 'groups', '[' .. group .. '\t', '(' .. group .. '\n', 'BYLEX')
  for _, member in ipairs(members) do
    due = due + redis.call('ZCOUNT', base .. 'lane:' .. string.sub(member, #group + 2), '-inf', digits(now))
  end
end
return { #groups, due }
