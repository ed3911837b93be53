-- remove-recurrence: delete a recurrence and its armed occurrence. What runs goes on.
-- @numbered
-- @keys jobs, stats, levels, queued, gate
-- @arg id text: id of the recurrence
-- @given settings.keepEnded
-- @returns status 'removed' | 'unknown' | 'declared': 'declared': somebody declares it, and nothing has changed
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @needs recur/read.lua, recur/remove.lua
local entry = readEntries({ id })[1]
local result = (entry.rule or entry.state) and 'removed' or 'unknown'
if entry.rule and entry.rule.owner ~= '' then result = 'declared' end
if result == 'removed' then removeRecurrence(entry) end
-- @include parts/answer.lua
return { 'done', digits(now), result }
