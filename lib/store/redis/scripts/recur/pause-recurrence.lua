-- pause-recurrence: take the armed occurrence of a recurrence away, and arm none until somebody resumes it.
-- @numbered
-- @keys jobs, stats, levels, queued
-- @arg id text: id of the recurrence
-- @arg reason text: why, '' where nobody says
-- @given settings.keepEnded
-- @returns isPaused '1' | '0': 0 where there is no such recurrence, or it is paused or has ended
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @needs parts/lanes.lua, recur/record.lua, recur/read.lua
local counted, changedEntries = {}, {}
local function noteChanged(entry) changedEntries[1] = entry end
-- @needs recur/disarm.lua
local entry = readEntries({ id })[1]
local state = entry.rule and entry.state
local result = state and state.state == 'a' and '1' or '0'
if result == '1' then
  disarm(entry)
  resolveDisarmed()
  state.state, state.reason, state.changed = 'p', reason, now
  -- The first write needs no memory: Redis checks its memory only at the first one.
  readLevels()
  redis.call('PEXPIRE', receiptKey, keepReceiptMs)
  redis.call('HSET', base .. 'timetable', id, formatState(state))
  closeLanes()
  writeDisarmed()
  for counter, by in pairs(counted) do redis.call('HINCRBY', statsKey, counter, by) end
end
-- @include parts/answer.lua
return { 'done', digits(now), result }
