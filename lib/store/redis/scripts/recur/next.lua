-- The instants of a recurrence. `entry` is one that a script has read: `id`, `rule` (its record) and `state` (see recur/record.lua).
-- @takes now, digits
-- @gives MISSED_AFTER_MS, LEAST_AHEAD_MS, nextAfter, lastUpTo, between, jittered, isDueAfter, isMissedAt, passTo, isShort
-- An occurrence that has not begun so long after it was due is missed, even if the next one is not due yet.
MISSED_AFTER_MS = 60000
-- The known instants run short where fewer are left, or where they end so soon.
LEAST_AHEAD_MS = 10000
local FEWEST_AHEAD = 3
-- So many missed ones are enough for the time being.
local MANY_AHEAD = 200

-- The first instant later than this one: nil where there is none ever, false where it is not known.
function nextAfter(entry, after)
  local rule = entry.rule
  if rule.everyMs > 0 then
    local from = math.max(after, rule.startAt - 1) - rule.offsetMs
    local at = (math.floor(from / rule.everyMs) + 1) * rule.everyMs + rule.offsetMs
    if rule.endAt > 0 and at > rule.endAt then return nil end
    return at
  end
  for text in string.gmatch(entry.state.list, '[^ ]+') do
    if text == '.' then return nil end
    local at = tonumber(string.match(text, '^%d+') or 0)
    if at > after then return at end
  end
  return false
end

-- The latest known instant up to `to`, and at least `from`, which is an instant; and whether it is known that no other lies between.
function lastUpTo(entry, from, to)
  local rule, last = entry.rule, from
  if rule.everyMs > 0 then
    if rule.endAt > 0 then to = math.min(to, rule.endAt) end
    return math.max(from, math.floor((to - rule.offsetMs) / rule.everyMs) * rule.everyMs + rule.offsetMs), true
  end
  for text in string.gmatch(entry.state.list, '[^ ]+') do
    if text == '.' then return last, true end
    local at = tonumber(string.match(text, '^%d+') or 0)
    if at > to then return last, true end
    if at > last then last = at end
  end
  return last, false
end

-- How many instants lie between two, and the latest of these, or the first of the two.
function between(entry, from, to)
  local everyMs = entry.rule.everyMs
  if everyMs > 0 then return math.max(0, (to - from) / everyMs - 1), math.max(from, to - everyMs) end
  local count, last = 0, from
  for text in string.gmatch(entry.state.list, '%d+[^ ]*') do
    local at = tonumber(string.match(text, '^%d+'))
    if at >= to then break end
    if at > from then count, last = count + 1, at end
  end
  return count, last
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
function passTo(entry, at)
  local state = entry.state
  state.passed, state.wall = at, 0
  if entry.rule.everyMs > 0 then return end
  local list = state.list
  while true do
    local first, minutes, others = string.match(list, '^(%d+):?(%-?%d*) ?(.*)$')
    if not first or tonumber(first) > at then break end
    if tonumber(first) == at then state.wall = at + (tonumber(minutes) or 0) * 60000 end
    list = others
  end
  state.list = string.gsub(list, '^! ', '')
end

-- Whether a process has to reckon more instants soon.
function isShort(entry)
  local list = entry.state.list
  if entry.rule.everyMs > 0 or entry.state.state ~= 'a' or string.sub(list, -1) == '.' then return false end
  local _, spaces = string.gsub(list, ' ', ' ')
  local last = tonumber(string.match(' ' .. list, '.* (%d+)') or 0)
  if last >= now + LEAST_AHEAD_MS then return spaces + 1 < FEWEST_AHEAD end
  return entry.rule.onMissed ~= 'a' or spaces + 1 < MANY_AHEAD
end
