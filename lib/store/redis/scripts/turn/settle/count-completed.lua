-- Counts the members of sets that have completed in an ordinary turn.
-- @needs parts/untag.lua
-- @takes base
for _, set in ipairs(leftSets) do
  if set.isKnown and set.left > 0 then redis.call('HINCRBY', base .. 'set:' .. string.sub(set.name, 2), 'completed', set.left) end
end
