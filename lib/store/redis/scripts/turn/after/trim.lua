-- Dead jobs, completed jobs and ids of ended jobs are kept up to a number or an age only: this drops what is above it.
-- `report.deadDropped`: the dead jobs that this turn deletes, id and name of each.
-- @needs parts/clock.lua, parts/envelope.lua, parts/claim.lua, parts/untag.lua, turn/claims.lua
-- @takes settings, decided, report, isIdle, jobsKey, claimsKey, failuresKey, deadKey, completedKey, resultsKey, usedIdsKey, statsKey
local endedIds, remembered = decided.endedIds, decided.remembered
-- How many more are dropped a turn than it adds, to keep the script short.
local TRIMMED_A_TURN = 100
-- @include turn/after/oldest.lua

local usedIds, dropped = {}, report.deadDropped
if isIdle or decided.died > 0 then
  local ids = oldest(deadKey, settings.keepDeadCount, settings.keepDeadAgeMs, decided.died + TRIMMED_A_TURN)
  for i, text in ipairs(readClaims(ids)) do
    local claim = text and parseClaim(text)
    if claim and hasMark(claim.marks, 'r') and settings.keepIdsMs > 0 then
      usedIds[#usedIds + 1] = digits(now + settings.keepIdsMs)
      usedIds[#usedIds + 1] = ids[i]
    end
    dropped[#dropped + 1] = ids[i]
    dropped[#dropped + 1] = claim and nameOf(claim.lane) or ''
    if claim then untagJob(ids[i], claim.tags) end
  end
  if ids[1] then
    redis.call('ZREM', deadKey, unpack(ids))
    redis.call('HDEL', jobsKey, unpack(ids))
    redis.call('HDEL', claimsKey, unpack(ids))
    redis.call('HDEL', failuresKey, unpack(ids))
    redis.call('HINCRBY', statsKey, 'deadDropped', #ids)
    if usedIds[1] then redis.call('ZADD', usedIdsKey, unpack(usedIds)) end
  end
end
if isIdle or (endedIds[1] and settings.keepCompletedCount > 0) then
  local ids = oldest(completedKey, settings.keepCompletedCount, settings.keepCompletedAgeMs, #endedIds + TRIMMED_A_TURN)
  if ids[1] then
    redis.call('ZREM', completedKey, unpack(ids))
    redis.call('HDEL', resultsKey, unpack(ids))
  end
end
if isIdle or remembered[1] or usedIds[1] then
  local added = (#remembered + #usedIds) / 2
  -- @include turn/after/forget-ids.lua
  -- More ids may be over: look again at once, as an idle session would otherwise come back only in seconds.
  if isIdle and forgotten == added + FORGOTTEN_A_TURN then decided.looksAgain, decided.trimsAgain = true, true end
end
