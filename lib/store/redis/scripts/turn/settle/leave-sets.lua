-- Which sets the jobs leave that this turn ends in another way than by a plain completion.
-- @needs parts/untag.lua
-- @takes decided
if decided.settlements[1] then
  local HOWS = { complete = 'completed', dead = 'dead', discard = 'discarded', cancel = 'cancelled' }
  for _, s in ipairs(decided.settlements) do
    local how = HOWS[s.transition]
    local set = how and string.match(s.claim.tags, '\t(\31[^\t]*)')
    if set then untagJob(s.id, set, how) end
  end
end
