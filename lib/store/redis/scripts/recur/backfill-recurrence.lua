-- backfill-recurrence: add occurrences beside the rule at these nominal instants, due now, but for those whose ids are known.
-- @numbered
-- @keys jobs, usedIds, stats, completed, results, levels, sleeping
-- @given clustered, settings.stealAfterMs
-- @arg id text: id of the recurrence
-- @tail instants at: epoch ms
-- @returns count text, isShort '1' | '0': how many were added, '' where there is no such recurrence; whether its instants run short: it is to be
--   tended at once
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), string.sub(earlierAnswer, 2), string.sub(earlierAnswer, 1, 1) } end
-- @needs parts/lanes.lua, schedule/admit.lua, recur/read.lua
local counted = {}
-- @needs recur/arm.lua, recur/add-beside-rule.lua, recur/run-armed-now.lua
local entry = readEntries({ id })[1]
local count, isNamed = '', {}
if isThere(entry) then
  local added, ranArmed, at = 0, false, instantsFrom
  while ARGV[at] do
    local instant = tonumber(ARGV[at])
    isNamed[instant] = true
    if runArmedNow(entry, instant) then
      added, ranArmed = added + 1, true
    elseif addBesideRule(entry, instant) then
      added = added + 1
    end
    at = at + 1
  end
  if ranArmed then
    armBehind(entry, isNamed)
    resolveArmed()
    writeArmed()
  end
  if admitted.fields[1] then
    writeAdmitted()
    writeScheduled()
  else
    closeLanes()
  end
  for counter, by in pairs(counted) do redis.call('HINCRBY', statsKey, counter, by) end
  count = tostring(added)
end
local result = (shortIds[1] and '1' or '0') .. count
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), count, string.sub(result, 1, 1) }
