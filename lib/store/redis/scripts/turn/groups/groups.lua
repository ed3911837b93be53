-- Puts back the groups that this turn frees, and makes what the rest of the turn needs of groups.
-- @takes settings, me, decided, base, servedKey, grouping, isClaiming, fit
-- @changes ofGroups
-- @include parts/touch-groups.lua
local groupsRule, runsJobs, leaving, released = settings.groupsRule, isClaiming, grouping.leaving, grouping.released
local stateOf, releaseGroup, letGo, leaveTurns
-- @include group/state.lua
-- @include group/release.lua
-- @include group/leave-turns.lua
grouping.stateOf, grouping.letGo = stateOf, letGo
-- @include turn/groups/free.lua
-- @include turn/groups/turns.lua
