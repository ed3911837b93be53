-- Makes what a turn needs of groups, where there are any.
-- @takes base, ofGroups, groupsRule, runsJobs, leaving, released, fit, turnsTaken
-- @changes stateOf, releaseGroup, letGo, prepareTurns, writeTurns, nextFreeAt
-- @include group/state.lua
-- @include group/release.lua
local leaveTurns
-- @include group/leave-turns.lua
-- @include turn/groups/turns.lua
