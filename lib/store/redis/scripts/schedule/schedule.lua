-- schedule: add jobs to their lanes. A job whose id is known already, or ended lately, is not added, and the answer tells which it is.
-- @numbered
-- @derived jobs, claims, usedIds, stats, completed, results, levels, sleeping
-- @given clustered, settings.stealAfterMs
-- @arg lowestMade text: the lowest id that this call's maker made for it, '-' = none
-- @arg highestMade text: the highest of these
-- @tail rows count, chosen, route, due, middle, ids, dues, ends: jobs that differ in id, due and the end of the envelope alone come as
--   one row: how many; how their ids were chosen ('' made by this caller, 'c' by the user, 'm' by the user in the form of a made one);
--   route of the envelope; due (> 0: at, epoch ms; <= 0: minus the delay in ms; '' each has its own); the middle, which follows the
--   time; then their ids, made ones, all of one length, joined into one argument; then, where each has its own, their dues; then the
--   ends of their envelopes
-- @returns takenAt text, letters text, ...duplicates text[]: when the call was taken in; a letter for each job; for each letter but '1',
--   'e' and 's' the due time of the job that is there, of 't' also its name, behind a space. Letters: '1' created; under a known id 'w' a
--   job waits, 'a' one runs, 'd' one is dead, 'e' one ended lately, 't' a job of another name waits, runs or is dead; 's' not there, as its set is
--   not there or done
-- @repeat the receipt answers even when the job has run and is gone by then. Where an eviction has taken the receipt, jobs with made
--   ids are written again.
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then
  local reply = { 'replayed', digits(now) }
  -- Names may hold spaces, but no line breaks.
  for field in string.gmatch(string.match(earlierAnswer, '^%S+ %S+\n(.*)$'), '[^\n]+') do reply[#reply + 1] = field end
  return reply
end

-- @include schedule/one-job.lua
-- Twice, as the parts that wake stand in between: a job behind the first of its lane does not pay for their functions.
if oneJob and not mayBeFirst then
  -- @include schedule/write-one-job.lua
  return { 'done', digits(now), digits(now), '1' }
end
-- @needs parts/wake/sleepers.lua, parts/wake/lane.lua
if oneJob then
  readWakers(oneJob.versionedName)
  -- @include schedule/write-one-job.lua
  if isFirst then wakeLane({ name = oneJob.lane, headDue = oneJob.dueText }) end
  return { 'done', digits(now), digits(now), '1' }
end

-- @needs parts/envelope.lua, parts/route.lua, parts/enter.lua, parts/tag.lua
-- @needs schedule/admit.lua
local rows, chosenIds = {}, {}
local at = rowsFrom
while ARGV[at] do
  local row = { count = tonumber(ARGV[at]), chosen = ARGV[at + 1], route = ARGV[at + 2], due = ARGV[at + 3], middle = ARGV[at + 4] }
  -- Where its ids begin, the dues, and the ends.
  row.ids = at + 5
  row.dues = row.ids + (row.chosen == '' and 1 or row.count)
  row.ends = row.dues + (row.due == '' and row.count or 0)
  if row.chosen ~= '' then
    for i = row.ids, row.dues - 1 do chosenIds[#chosenIds + 1] = ARGV[i] end
  end
  rows[#rows + 1] = row
  at = row.ends + row.count
end
local letters, duplicates = {}, {}
-- Jobs with chosen ids that this call has taken in.
local seen = {}
-- Claims of runs that are not the last of their ids any more: who is told that a job is active counts on its further attempts.
local goingOn = {}
local letterOf
-- Ids made for this call are new; only chosen ones are looked up.
if chosenIds[1] then
  -- @include schedule/duplicates.lua
end

-- Every made id is cut out of an argument, and a local is found faster.
local sub = string.sub
local CREATED = '\n' .. digits(now) .. ' '
local fields, takenIds = admitted.fields, admitted.chosenIds
local created, index, hasChain = 0, 0, nil

for _, row in ipairs(rows) do
  local count, chosen, ids, ends = row.count, row.chosen, row.ids, row.ends
  local middle, due, dues = row.middle, row.due, row.due == '' and row.dues
  local dueText
  local beginning, tags = row.route .. CREATED .. middle, tagsOfFlags(middle)
  local set = tags ~= '' and string.match(tags, '\t\31([^\t]*)')
  local newLetter = set and redis.call('EXISTS', base .. 'set:' .. set) == 0 and 's' or '1'
  hasChain = hasChain or string.find(middle, '^%l*t')
  local laneName = laneOfRoute(row.route)
  local isChosen, name = chosen ~= '', chosen ~= '' and nameOf(laneName)
  local madeIds, idLength = ARGV[ids], #ARGV[ids] / count
  local added, last
  for i = 0, count - 1 do
    if dues or i == 0 then
      -- An instant comes in all its digits.
      local given = dues and ARGV[dues + i] or due
      local at = tonumber(given)
      dueText = at > 0 and given or digits(now - at)
    end
    local id, letter
    if isChosen then
      id = ARGV[ids + i]
      letter = letterOf(id, chosen, name) or newLetter
      if letter == '1' then
        seen[id] = { letter = 'w', due = dueText, name = name }
        takenIds[#takenIds + 1] = id
      end
    else
      id, letter = sub(madeIds, i * idLength + 1, (i + 1) * idLength), newLetter
    end
    index = index + 1
    letters[index] = letter
    if letter == '1' then
      if not added then
        added = enterLane(laneName).added
        last = #added
      end
      added[last + 1], added[last + 2] = dueText, id
      last = last + 2
      if tags ~= '' then tagJob(id, tags) end
      created = created + 1
      fields[2 * created - 1], fields[2 * created] = id, beginning .. ARGV[ends + i]
    end
  end
end

if created > 0 then
  writeAdmitted()
  writeScheduled()
  -- Releases before chains would take such a job for a damaged one.
  if hasChain then redis.call('HSET', statsKey, 'schema', SCHEMA) end
end
if goingOn[1] then redis.call('HSET', claimsKey, unpack(goingOn)) end
local reply = { digits(now), table.concat(letters), unpack(duplicates) }
local result = lowestMade .. ' ' .. highestMade .. '\n' .. table.concat(reply, '\n')
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), unpack(reply) }
