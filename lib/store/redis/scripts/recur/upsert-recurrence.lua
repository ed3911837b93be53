-- upsert-recurrence: make a recurrence and arm its first occurrence, or change it.
-- @numbered
-- @keys jobs, usedIds, stats, completed, results, levels, sleeping, queued, active, dead, gate
-- @given clustered, settings.stealAfterMs
-- @arg id text: id of the recurrence
-- @arg head text: the numbers of its record (see recur/record.lua), but for the version
-- @arg owner text: who declares it, '' where a caller upserts it
-- @arg ruleText text: the rule, as JSON
-- @arg route text: the first line of the envelope of each occurrence
-- @arg rest payload: what follows the time of creation in it
-- @arg zones text: the version of the time-zone data by which the instants were reckoned
-- @arg reckonedFrom epoch ms: from when on
-- @arg list text: the instants, '-' where this script is to reckon them
-- @given settings.keepEnded
-- @returns status 'created' | 'changed' | 'unchanged' | 'declared' | 'again', nextAt text: 'declared' where it is and `owner` is empty: nothing
--   has changed; 'again' where the instants do not tell the first one after `nextAt`: nothing has changed either. Else `nextAt` is the
--   nominal instant of the next occurrence, epoch ms, 0 where none is to come
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), string.match(earlierAnswer, '%a+'), string.match(earlierAnswer, '%d+') } end
-- @needs recur/read.lua
local counted = {}
-- @needs recur/arm.lua, recur/disarm.lua, recur/tended.lua, recur/put.lua
local entry = readEntries({ id })[1]
local status, from = 'declared', 0
if not (entry.rule and entry.rule.owner ~= '' and owner == '') then
  status, from = putRecurrence(entry, { head = head, owner = owner, ruleText = ruleText, route = route, rest = rest, list = list, reckonedFrom = reckonedFrom, zones = zones })
end
if status == 'created' or status == 'changed' then
  resolveArmed()
  resolveDisarmed()
  writeRecords()
  -- @include recur/write.lua
  -- See schedule/schedule.lua.
  if string.find(rest, '^ %l*t') then redis.call('HSET', statsKey, 'schema', SCHEMA) end
elseif status == 'unchanged' then
  beTended()
end
local result = status .. ' ' .. digits(status == 'again' and from or entry.state and entry.state.armed or 0)
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), status, string.match(result, '%d+') }
