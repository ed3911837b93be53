-- tend: look after the next recurrences of a walk through all, and after those that are named: arm what is not armed though it should be,
-- forget what ended a day ago, and tell whose instants a process has to reckon.
-- @numbered
-- @keys jobs, usedIds, stats, completed, results, levels, sleeping, active, dead, gate
-- @given clustered, settings.stealAfterMs
-- @arg cursor text: where the walk is to go on, '' = begin one if it is time for that
-- @arg limit count: about how many to look at
-- @arg everyMs ms: how long after a walk has begun the next one is to begin
-- @arg zones text: the version of the caller's time-zone data
-- @tail ids id: recurrences to look after besides
-- @returns next text, tendAt text, blackoutsAt text, needs text[], ...damaged text[]: where the walk is to go on, '' = it is over; when the next
--   is to begin, epoch ms, '' = the queue has nothing to tend; when more blackouts are to be computed, '' = never; six for each recurrence whose instants are to be reckoned: id, version, 'more' | 'zones',
--   from when on, the wall time of that instant ('zones', 0 = not known), its rule; ids of those that cannot go on because nobody can read
--   their records, each told once
-- @repeat it looks after nothing again.
-- @needs parts/clock.lua
-- @include parts/begin.lua
-- @include gate/gate.lua
local tendAt, blackoutsAt = gate.recurrencesAt, gate.blackoutsAt and digits(gate.blackoutsAt) or ''
-- The clock went back.
if tendAt and tendAt > now + everyMs then tendAt = now end
-- Where an eviction has taken it, nobody would judge or arm any more.
if not tendAt and redis.call('EXISTS', base .. 'timetable') > 0 then tendAt = now end
if earlierAnswer or not tendAt then return { earlierAnswer and 'replayed' or 'done', digits(now), '', tendAt and digits(tendAt) or '', blackoutsAt, {} } end
-- @needs parts/lanes.lua
local counted = {}
-- @needs recur/arm.lua, recur/forget.lua
local isWalk = cursor ~= '' or tendAt <= now
-- @needs recur/tend/look.lua

local states, next = {}, ''
if isWalk then
  local step = redis.call('HSCAN', base .. 'timetable', cursor == '' and '0' or cursor, 'COUNT', limit)
  next = step[1] == '0' and '' or step[1]
  for i = 1, #step[2], 2 do states[step[2][i]] = step[2][i + 1] end
end
local named, at = {}, idsFrom
while ARGV[at] do
  named[#named + 1] = ARGV[at]
  at = at + 1
end
if named[1] then
  for i, text in ipairs(redis.call('HMGET', base .. 'timetable', unpack(named))) do states[named[i]] = text or nil end
end
local needs = lookAfter(states, zones)
resolveArmed()
local damaged = {}
for i, entry in ipairs(looked.damaged) do
  noteChanged(entry)
  damaged[i] = entry.id
end
-- The first write needs no memory: Redis checks its memory only at the first one.
readLevels()
redis.call('PEXPIRE', receiptKey, keepReceiptMs)
if cursor == '' and tendAt <= now then
  -- Nothing is left to tend where Redis has lost all.
  tendAt = redis.call('EXISTS', base .. 'timetable') > 0 and now + everyMs
  if tendAt then redis.call('HSET', gateKey, 'tendAt', digits(tendAt)) else redis.call('HDEL', gateKey, 'tendAt') end
end
writeArmed()
closeLanes()
for counter, by in pairs(counted) do redis.call('HINCRBY', statsKey, counter, by) end
forget(looked.over)
local result = next
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), next, tendAt and digits(tendAt) or '', blackoutsAt, needsOf(needs, zones), unpack(damaged) }
