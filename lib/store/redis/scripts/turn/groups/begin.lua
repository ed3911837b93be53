-- What a turn has to do with groups. `grouping` is nil in a queue that has none:
--   ended          jobs that completed: id and group of each
--   leaving        "<group>\t<id>" of each job that leaves its place -> when one that goes back is due (epoch ms), true for one that ends
--   released       lanes of groups that are put back, where they have due jobs
--   taken          the units of each level whose turns were looked at (see turn/claim/units.lua)
--   areSomeUnseen  there are more due lanes than this turn has looked at
--   nextFreeAt     when the next held group is put back, math.huge for none
--   stateOf, letGo, prepareTurns, writeTurns  see group/state.lua, group/release.lua and turn/groups/turns.lua
-- @changes grouping
grouping = { ended = {}, leaving = {}, released = {}, taken = {}, areSomeUnseen = false, nextFreeAt = math.huge }
