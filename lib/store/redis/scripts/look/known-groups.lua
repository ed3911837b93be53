-- known-groups: all that is known of some groups.
-- @node levels
-- @arg base text: what every key of the queue begins with
-- @arg groupsRule text: what holds for each group (see group/state.lua)
-- @tail groups group: groups, as codec/group-text.ts writes them
-- @returns ...known text[][]: for each group waiting, due, active, settings ('' = none), until when it is paused (epoch ms, 0 = it is not), by what it is held
--   ('' = by nothing) and, where time alone may free it, until when (epoch ms, else '')
-- @repeat it only reads.
-- @needs parts/clock.lua
local runsJobs, leaving, stateOf, readHolders = true, {}, nil, nil
-- Nothing is written.
local ofGroups = { running = {}, held = {}, holders = {} }
-- @include group/state.lua

readHolders({ unpack(ARGV, groupsFrom) })
local known = {}
for i = groupsFrom, #ARGV do
  local group = ARGV[i]
  local first, last = '[' .. group .. '\t', '(' .. group .. '\n'
  local waiting, due, active, state = 0, 0, redis.call('ZLEXCOUNT', base .. 'runningOfGroups', first, last), stateOf(group)
  for _, member in ipairs(redis.call('ZRANGE', base .. 'groups', first, last, 'BYLEX')) do
    local lane = string.sub(member, #group + 2)
    waiting = waiting + redis.call('ZCARD', base .. 'lane:' .. lane)
    due = due + redis.call('ZCOUNT', base .. 'lane:' .. lane, '-inf', digits(now))
  end
  local paused = tonumber(redis.call('ZSCORE', base .. 'groupPauses', group) or 0)
  known[#known + 1] = {
    digits(waiting), digits(due), digits(active), redis.call('HGET', base .. 'groupSettings', group) or '',
    paused > now and digits(paused) or '0', state.heldBy or '',
    state.opensAt and state.opensAt < ENDLESS and digits(state.opensAt) or '',
  }
end
return known
