-- backfill-recurrence: add occurrences beside the rule at these nominal instants, due now, but for those whose ids are known.
-- @numbered
-- @keys jobs, usedIds, stats, completed, results, levels, sleeping
-- @arg clustered flag: whether Redis is a cluster
-- @arg stealAfterMs ms: how late a job must be before any worker may take it from the one that it prefers
-- @arg id text: id of the recurrence
-- @tail instants at: epoch ms
-- @returns count text: how many were added, '' where there is no such recurrence
-- @include shared/clock.lua
-- @include shared/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @include shared/envelope.lua
-- @include shared/route.lua
-- @include jobs/lanes.lua
-- @include wake/handles.lua
-- @include wake/publish.lua
-- @include wake/sleepers.lua
-- @include wake/lane.lua
-- @include jobs/enter.lua
-- @include jobs/tag.lua
-- @include jobs/admit.lua
-- @include recur/record.lua
-- @include recur/read.lua
-- @include recur/listed.lua
-- @include recur/beside.lua
local entry = readEntries({ id })[1]
local result = ''
if isThere(entry) then
  local count, at = 0, instantsFrom
  while ARGV[at] do
    if addBeside(entry, tonumber(ARGV[at])) then count = count + 1 end
    at = at + 1
  end
  if count > 0 then
    writeAdmitted()
    writeScheduled()
  end
  result = tostring(count)
end
-- @include shared/answer.lua
-- @include wake/lanes.lua
return { 'done', digits(now), result }
