-- run-recurrence: add an occurrence beside the rule, due now; its instant is now, or the first millisecond after it that no job has.
-- @numbered
-- @keys jobs, usedIds, stats, completed, results, levels, sleeping
-- @given clustered, settings.stealAfterMs
-- @arg id text: id of the recurrence
-- @returns jobId text, due text, name text: its id, '' where there is no such recurrence; when it is due, epoch ms; its name
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), string.match(earlierAnswer, '^([^\n]*)\n([^\n]*)\n(.*)$') } end
-- @needs parts/envelope.lua, parts/route.lua, schedule/admit.lua, recur/read.lua, recur/add-beside-rule.lua
local entry = readEntries({ id })[1]
local jobId, name = '', ''
if isThere(entry) then
  local at = now
  while not addBesideRule(entry, at) do at = at + 1 end
  jobId, name = id .. '@' .. digits(at), nameOf(laneOfRoute(entry.rule.route))
  writeAdmitted()
  writeScheduled()
end
local result = jobId .. '\n' .. digits(now) .. '\n' .. name
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), jobId, digits(now), name }
