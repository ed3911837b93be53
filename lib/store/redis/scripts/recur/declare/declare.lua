-- declare: note what a live process declares, and tell which of it is to be sent whole, and which recurrences are orphans.
-- @numbered
-- @keys gate
-- @arg app text: whose declarations these are
-- @arg revision text: which build makes them, '-' = none
-- @arg began epoch ms: when the process first declared something in this queue, 0 = now
-- @arg orphanAfterMs ms: after how long without a live process that declares it a recurrence is an orphan
-- @arg tells 'none' | 'new' | 'all': which orphans to tell: those that nobody has been told, or all
-- @tail declared id, digest: ids of recurrences, and the digest of each declaration
-- @returns startedAt text, letters text, ...orphans text[]: `began`, or now; a letter for each declaration: 'w' it is the rule, 'l' another
--   one wins, 'u' the recurrence was upserted, 'n' it is to be sent whole by declare-recurrence; then ids of orphans
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then
  -- Of no declarations there are no letters.
  local since, letters, orphans = string.match(earlierAnswer, '^(%d+)\n(%a*)(.*)$')
  local reply = { 'replayed', digits(now), since, letters }
  for id in string.gmatch(orphans, '[^\n]+') do reply[#reply + 1] = id end
  return reply
end
-- @needs recur/read.lua, recur/tended.lua
local startedAt = began > 0 and began or now
-- @needs recur/declare/owner.lua, recur/declare/declared.lua, recur/declare/orphans.lua
local LETTERS = { wins = 'w', owns = 'w', loses = 'l', upserted = 'u', needed = 'n' }
-- Processes are heard five times within `orphanAfterMs` and more.
local beat = noteBeat(orphanAfterMs / 2)
local ids, letters, members, owned, isKept = {}, {}, {}, {}, false
for i = declaredFrom, #ARGV, 2 do ids[#ids + 1] = ARGV[i] end
for i, entry in ipairs(readEntries(ids)) do
  local digest = ARGV[declaredFrom + 2 * i - 1]
  isKept = isKept or entry.state and entry.state.state ~= 'o'
  local verdict = judgeDeclared(entry, digest)
  letters[i] = LETTERS[verdict]
  if verdict ~= 'upserted' then members[#members + 1] = memberOf(app, entry.id, digest) end
  if verdict == 'owns' then
    owned[#owned + 1] = entry.id
    owned[#owned + 1] = withOwner(entry.text, ownerLine(digest))
  end
end
noteDeclared(members)
redis.call('ZADD', base .. 'declared', unpack(beat))
if owned[1] then redis.call('HSET', base .. 'recurrences', unpack(owned)) end
if isKept then beTended() end
-- A process that has just started cannot tell what the others declare: they may be about to start, after an outage of all.
local mayTell = tells ~= 'none' and startedAt <= now - orphanAfterMs and mayTellOrphans()
local reply = { digits(startedAt), table.concat(letters), unpack(mayTell and findOrphans(tells == 'all') or {}) }
local result = table.concat(reply, '\n')
-- @include parts/answer.lua
return { 'done', digits(now), unpack(reply) }
