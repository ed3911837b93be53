-- Frees groups (see turn/groups/free.lua), and fills in the functions of `grouping` that the rest of the turn calls.
-- @takes settings, me, decided, base, servedKey, grouping, isClaiming, fit
-- @changes ofGroups
-- @include parts/touch-groups.lua
local groupsRule, runsJobs, leaving, freedLanes = settings.groupsRule, isClaiming, grouping.leaving, grouping.freedLanes
local stateOf, readHolders, freeGroup, endHold, leaveTurns
-- @include group/state.lua
-- @include group/free-group.lua
-- @include group/leave-turns.lua
grouping.stateOf, grouping.readHolders, grouping.endHold = stateOf, readHolders, endHold
-- @include turn/groups/free.lua
-- @include turn/groups/turns.lua
