-- resume-recurrence: arm the first occurrence after now of a recurrence that is paused. The time of the pause is not missed.
-- @numbered
-- @keys jobs, usedIds, stats, completed, results, levels, sleeping, queued, gate
-- @given clustered, settings.stealAfterMs
-- @arg id text: id of the recurrence
-- @given settings.keepEnded
-- @returns isResumed '1' | '0', isShort '1' | '0': 0 where it is not paused; whether its instants run short, so that none could be armed perhaps: it is to
--   be tended at once
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), string.sub(earlierAnswer, 1, 1), string.sub(earlierAnswer, 2) } end
-- @needs recur/read.lua, recur/next.lua
local counted = {}
-- @needs recur/arm.lua, recur/disarm.lua, recur/tended.lua
local entry = readEntries({ id })[1]
local state = entry.rule and entry.state
local isResumed = state and state.state == 'p'
if isResumed then
  state.state, state.reason, state.changed = 'a', '', now
  advanceTo(entry, math.max(now, state.reached))
  armNext(entry)
  resolveArmed()
  resolveDisarmed()
  beTended()
  -- @include recur/write.lua
end
local result = (isResumed and '1' or '0') .. (shortIds[1] and '1' or '0')
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), string.sub(result, 1, 1), string.sub(result, 2) }
