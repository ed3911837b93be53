-- remove-orphan: delete a recurrence that a process of this app once declared, if no live one does. What runs goes on.
-- @numbered
-- @keys jobs, stats, levels, queued, gate
-- @arg app text: whose orphan it is
-- @arg orphanAfterMs ms: after how long without a live process that declares it a recurrence is an orphan
-- @arg id text: id of the recurrence
-- @given settings.keepEnded
-- @returns isRemoved '1' | '0': 0 if it is no orphan of the app, or no more
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @needs recur/read.lua, recur/remove.lua, recur/declare/orphans.lua
local entry = readEntries({ id })[1]
local result = isOrphan(entry) and '1' or '0'
if result == '1' then
  removeRecurrence(entry)
  forgetDeclared(id)
end
-- @include parts/answer.lua
return { 'done', digits(now), result }
