-- set-group: replace the settings of a group. The new ones hold from the next claim on.
-- @numbered
-- @keys levels, sleeping
-- @given clustered, settings.stealAfterMs
-- @arg group text: the group, as codec/group-text.ts writes it
-- @arg set text: its settings (see there), '' = none
-- @returns result '1': always
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @needs parts/envelope.lua, parts/lanes.lua, parts/enter.lua
local freedLanes, freeGroup, endHold = {}, nil, nil
-- @include group/free-group.lua

-- The new settings may not hold the group any more; if they do, the next claim holds it anew.
if redis.call('ZSCORE', base .. 'held', group) then freeGroup(group) end
if set == '' then
  redis.call('HDEL', base .. 'groupSettings', group)
else
  redis.call('HSET', base .. 'groupSettings', group, set)
end
closeLanes()
local result = '1'
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), result }
