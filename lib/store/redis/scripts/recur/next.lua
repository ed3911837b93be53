-- The instants of a recurrence. `entry` is one that a script has read: `id`, `rule` (its record) and `state` (see recur/record.lua).
-- @needs parts/clock.lua
-- @gives lastKnown, nextAfter, lastUpTo, latestBetween, countBetween, jittered, isDueAfter, isMissedAt, advanceTo, isShort
-- So many characters of missed ones, about 200 instants, are enough for the time being.
local MANY_AHEAD = 2800

-- An instant in a list: digits that are not the minutes of one. `%f` stands where no part of an instant precedes.
local INSTANT = '%f[%d:%-](%d+)'
-- No instant with its minutes, and what may stand behind it, is longer.
local LONGEST = 40

-- Where in the list of a state the first instant later than `after` begins, and that instant; nil where none is known. After an outage a
-- list has hundreds. They ascend, so it is looked for by steps that double, and then by halves; and the last answer is kept, as each
-- occurrence asks the same several times.
local function findAfter(state, after)
  local list = state.list
  if state.askedIn == list and state.asked == after then return state.place, state.at end
  local low, high, ahead = 1, #list + 1, 0
  local place, at
  while low < high do
    local from = math.min(low + ahead, math.floor((low + high) / 2))
    local begin, last, text = string.find(list, INSTANT, from)
    local instant = begin and begin < high and tonumber(text)
    if instant and instant <= after then
      low, ahead = last + 1, 2 * ahead + 1
    else
      if instant then place, at = begin, instant end
      high = from
    end
  end
  state.askedIn, state.asked, state.place, state.at = list, after, place, at
  return place, at
end

-- The last instant that begins before this place in a list, and the minutes to its wall time; nil for none.
local function latestBefore(list, place)
  local at, minutes = string.match(string.sub(list, math.max(1, place - LONGEST), place - 1), '.*' .. INSTANT .. ':?(%-?%d*)')
  return tonumber(at), tonumber(minutes) or 0
end

local function isWhole(list)
  return string.sub(list, -1) == '.'
end

-- The last instant of a list, nil for none.
function lastKnown(list)
  return (latestBefore(list, #list + 1))
end

-- The first instant later than this one: nil where there is none ever, false where it is not known.
function nextAfter(entry, after)
  local rule = entry.rule
  if rule.everyMs > 0 then
    local from = math.max(after, rule.startAt - 1) - rule.offsetMs
    local at = (math.floor(from / rule.everyMs) + 1) * rule.everyMs + rule.offsetMs
    if rule.endAt > 0 and at > rule.endAt then return nil end
    return at
  end
  local _, at = findAfter(entry.state, after)
  if not at and isWhole(entry.state.list) then return nil end
  return at or false
end

-- The latest known instant up to `to`, and at least `from`, which is an instant; and whether it is known that no other lies between.
function lastUpTo(entry, from, to)
  local rule = entry.rule
  if rule.everyMs > 0 then
    if rule.endAt > 0 then to = math.min(to, rule.endAt) end
    return math.max(from, math.floor((to - rule.offsetMs) / rule.everyMs) * rule.everyMs + rule.offsetMs), true
  end
  local list = entry.state.list
  local known = lastKnown(list)
  -- The usual case after an outage: all known instants have passed.
  if known and known <= to then return math.max(from, known), isWhole(list) end
  local place = findAfter(entry.state, to)
  return math.max(from, latestBefore(list, place or #list + 1) or from), place ~= nil or isWhole(list)
end

-- The latest instant between two, or the first of the two.
function latestBetween(entry, from, to)
  local everyMs = entry.rule.everyMs
  if everyMs > 0 then return math.max(from, to - everyMs) end
  return (lastUpTo(entry, from, to - 1))
end

-- How many known instants lie between two.
function countBetween(entry, from, to)
  local everyMs, list = entry.rule.everyMs, entry.state.list
  if everyMs > 0 then return math.max(0, (to - from) / everyMs - 1) end
  local first = findAfter(entry.state, from)
  if not first then return 0 end
  local _, count = string.gsub(string.sub(list, first, (findAfter(entry.state, to - 1) or 0) - 1), INSTANT, '')
  return count
end

-- When an instant is due: up to the jitter later, but before the next one; seeded, so that it is the same whoever reckons it.
function jittered(entry, at, following)
  local most = entry.rule.jitterMs
  if most == 0 then return at end
  if following then most = math.min(most, following - at - 1) end
  return at + tonumber(string.sub(redis.sha1hex(entry.id .. '@' .. digits(at)), 1, 8), 16) % (most + 1)
end

-- Whether the instant that follows is due.
function isDueAfter(entry, following)
  if not following or now < following then return false end
  return entry.rule.jitterMs == 0 or now >= jittered(entry, following, nextAfter(entry, following))
end

function isMissedAt(entry, at, following)
  return isDueAfter(entry, following) or now >= jittered(entry, at, following) + MISSED_AFTER_MS
end

-- Notes that all instants up to this one are decided.
function advanceTo(entry, at)
  local state = entry.state
  state.reached, state.wall = at, 0
  if entry.rule.everyMs > 0 then return end
  local list = state.list
  local place = findAfter(state, at)
  local last, minutes = latestBefore(list, place or #list + 1)
  if last == at then state.wall = at + minutes * 60000 end
  state.list = place and string.sub(list, place) or isWhole(list) and '.' or ''
end

-- Whether a process has to reckon more instants soon.
function isShort(entry)
  local list = entry.state.list
  if entry.rule.everyMs > 0 or entry.state.state ~= 'a' or isWhole(list) then return false end
  if (lastKnown(list) or 0) >= now + LEAST_AHEAD_MS then return not string.find(list, '^%S+ %S+ %S') end
  return entry.rule.onMissed ~= 'a' or #list < MANY_AHEAD
end
