-- resume-group: let workers claim jobs of a group again.
-- @numbered
-- @keys levels, sleeping
-- @given clustered, settings.stealAfterMs
-- @arg group text: the group, as codec/group-text.ts writes it
-- @returns wasPaused '1' | '0': whether it was paused
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @needs parts/envelope.lua, parts/lanes.lua, parts/enter.lua
local freedLanes, freeGroup, endHold = {}, nil, nil
-- @include group/free-group.lua

local ends = redis.call('ZSCORE', base .. 'groupPauses', group)
local result = ends and tonumber(ends) > now and '1' or '0'
redis.call('ZREM', base .. 'groupPauses', group)
if ends then
  freeGroup(group)
  closeLanes()
end
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), result }
