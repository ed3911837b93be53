-- Members of sets that complete in an ordinary turn are counted, but what follows the last one of a set is for turn.lua: so the turn ends here, before
-- any write, where a set may be done by it.
-- @needs parts/clock.lua, parts/untag.lua
-- @takes base
for _, set in ipairs(leftSets) do
  local state = redis.call('HGET', base .. 'set:' .. string.sub(set.name, 2), 'state')
  set.isKnown = state ~= false
  if state == 'c' and redis.call('HLEN', set.key) <= #set.removed then return { 'whole', digits(now), '' } end
end
