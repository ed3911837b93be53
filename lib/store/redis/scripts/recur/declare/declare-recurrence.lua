-- declare-recurrence: make a declaration the rule of its recurrence, unless another one wins by now.
-- @numbered
-- @keys jobs, usedIds, stats, completed, results, levels, sleeping, queued, active, dead, gate
-- @given clustered, settings.stealAfterMs
-- @arg app text: whose declaration it is
-- @arg revision text: which build makes it, '-' = none
-- @arg startedAt epoch ms: when the process first declared something in this queue
-- @arg orphanAfterMs ms: after how long without a live process that declares it a declaration gives way to others
-- @arg digest text: digest of the declaration
-- @arg isOff flag: whether it switches the recurrence off; the arguments from `head` on mean nothing then
-- @arg id text: id of the recurrence
-- @arg head text: the numbers of its record (see recur/record.lua), but for the version
-- @arg ruleText text: the rule, as JSON
-- @arg route text: the first line of the envelope of each occurrence
-- @arg rest payload: what follows the time of creation in it
-- @arg zones text: the version of the time-zone data by which the instants were reckoned
-- @arg reckonedFrom epoch ms: from when on
-- @arg list text: the instants, '-' where this script is to reckon them
-- @given settings.keepEnded
-- @returns status 'wins' | 'loses' | 'upserted' | 'again', from text: 'again' where the instants do not tell the first one after `from`, and
--   nothing has changed
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), string.match(earlierAnswer, '%a+'), string.match(earlierAnswer, '%d+') } end
-- @needs recur/read.lua
local counted = {}
-- @needs recur/arm.lua, recur/disarm.lua, recur/put.lua, recur/declare/switch-off.lua, recur/declare/owner.lua, recur/declare/declared.lua
local entry = readEntries({ id })[1]
local verdict, from = judgeDeclared(entry, digest), 0
local status = (verdict == 'needed' or verdict == 'owns') and 'wins' or verdict
if verdict == 'needed' then
  local owner = ownerLine(digest)
  local put
  if isOff then
    switchOff(entry, owner)
  else
    put, from = putRecurrence(entry, { head = head, owner = owner, ruleText = ruleText, route = route, rest = rest, list = list, reckonedFrom = reckonedFrom, zones = zones })
  end
  if put == 'again' then
    status = put
  else
    resolveArmed()
    resolveDisarmed()
    writeRecords()
    writeOff()
    -- @include recur/write.lua
  end
end
if status == 'wins' then noteDeclared({ memberOf(app, id, digest) }) end
local result = status .. ' ' .. digits(from or 0)
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), status, string.match(result, '%d+') }
