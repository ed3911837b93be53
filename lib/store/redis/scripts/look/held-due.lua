-- held-due: how many due jobs some groups have that are held. It looks at the groups in `held` first, and then at the due lanes that no claim has
--   seen: a group may have reached a limit since.
-- @node levels
-- @arg base text: what every key of the queue begins with
-- @arg groupsRule text: what holds for each group (see group/state.lua)
-- @arg listed count: how many groups of `held` to look at in all
-- @arg from count: how many groups and lanes to pass over
-- @arg count count: how many to look at
-- @returns looked number, ...held value[]: how many there were; then two for each group of them that is held: group, its due jobs
-- @repeat it only reads.
-- @needs parts/clock.lua
local runsJobs, leaving, stateOf, readHolders = true, {}, nil, nil
-- Nothing is written.
local ofGroups = { running = {}, held = {}, holders = {} }
-- @include group/state.lua
local inHeld = math.min(listed, redis.call('ZCARD', base .. 'held'))
local groups = from < inHeld and redis.call('ZRANGE', base .. 'held', from, math.min(from + count, inHeld) - 1) or {}
local looked, passOver = #groups, math.max(0, from - inHeld)

-- Lanes of groups, and those of suspects. What a claim has seen due has its turn, so a claim would have held its group, or is held.
for _, ending in ipairs({ ':@', ':!' }) do
  for _, level in ipairs(redis.call('ZRANGE', base .. 'levels' .. ending, '-inf', digits(now), 'BYSCORE')) do
    if looked < count and not string.find(level, '^', 1, true) then
      local headsKey = base .. 'heads:' .. level .. ending
      local heads = redis.call('ZRANGE', headsKey, '-inf', digits(now), 'BYSCORE', 'LIMIT', passOver, count - looked)
      passOver = heads[1] and 0 or passOver - redis.call('ZCOUNT', headsKey, '-inf', digits(now))
      looked = looked + #heads
      for _, head in ipairs(heads) do groups[#groups + 1] = string.match(head, '\t%d+:!?@([^:]*):') end
    end
  end
end

readHolders(groups)
local held, isKnown = {}, {}
for _, group in ipairs(groups) do
  local state = stateOf(group)
  -- Nothing holds for any group.
  if not state.starts then return { 0 } end
  if state.free <= 0 and not isKnown[group] then
    isKnown[group] = true
    local due = 0
    for _, member in ipairs(redis.call('ZRANGE', base .. 'groups', '[' .. group .. '\t', '(' .. group .. '\n', 'BYLEX')) do
      due = due + redis.call('ZCOUNT', base .. 'lane:' .. string.sub(member, #group + 2), '-inf', digits(now))
    end
    held[#held + 1], held[#held + 2] = group, due
  end
end
return { looked, unpack(held) }
