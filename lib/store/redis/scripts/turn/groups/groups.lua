-- Makes what a turn needs of groups, where there are any.
-- @takes base, groupsRule, runsJobs, leaving, released, fit, turnsTaken
-- @changes ofGroups, stateOf, releaseGroup, letGo, prepareTurns, writeTurns, nextFreeAt
-- @include parts/touch-groups.lua
-- @include group/state.lua
-- @include group/release.lua
local leaveTurns
-- @include group/leave-turns.lua
-- @include turn/groups/turns.lua
