-- A recurrence as it is stored. Its record, in `recurrences`, changes only by a call about it:
--   line 1  <version of the timing> <everyMs, 0 = not reckoned here> <offsetMs> <startAt> <endAt, 0 = none> <onMissed: s(kip), o(nce), a(ll)>
--           <missedWithin, ms, - = the default> <overlap: a(llow), s(kip), q(ueue)> <limit, 0 = none> <jitterMs> <digest of the timing>
--   line 2  who declared it, empty where it was upserted; line 3 the rule, as JSON; line 4 the route of its jobs
--   rest    of their envelopes what follows the time of creation: " co", tags, and the lines behind
-- Its state, in `timetable`, changes with each occurrence:
--   <a(ctive) | p(aused) | e(nded) | o(ff)> <armed, 0 = none> <reached> <began> <count> <blockedDue, 0 = none> <wall> <changed> <time-zone data>|<list>
--   and of a paused one, in a second line, why.
-- `armed`: the nominal instant whose job waits to begin. `reached`: the latest instant that was decided: only later ones are armed. `began`:
-- the latest of the rule's own that began, and `count` how many have. `blockedDue`: when the armed one was due, while it waits for the previous one to
-- end: its due time in its lane is that of the next look. `wall`: the wall time of `reached`, 0 = not known. `changed`: when the recurrence was made, changed, paused or ended.
-- `list`: the instants after `reached` that are known ahead, "<at>" or "<at>:<minutes from it to its wall time>", a space between, and
-- a '.' behind them where the rule has none beyond. A '!' stands behind missed ones that are not made up for, as there are too many. '-' of a rule that is reckoned here.
-- @needs parts/clock.lua
-- @gives parseRecord, armedIn, parseState, formatState
-- What the first lines of records say, by their texts: those of many users are alike.
local heads = {}

local function parseHead(text)
  local version, everyMs, offsetMs, startAt, endAt, onMissed, missedWithin, overlap, limit, jitterMs, timing =
    string.match(text, '^(%d+) (%d+) (%-?%d+) (%d+) (%d+) (%l) (%S+) (%l) (%d+) (%d+) (%w+)$')
  if not timing then return nil end
  return { __index = {
    version = version, everyMs = tonumber(everyMs), offsetMs = tonumber(offsetMs), startAt = tonumber(startAt), endAt = tonumber(endAt),
    onMissed = onMissed, missedWithin = tonumber(missedWithin), overlap = overlap, limit = tonumber(limit), jitterMs = tonumber(jitterMs),
    timing = timing,
  } }
end

-- nil where somebody has damaged the record.
function parseRecord(text)
  local head, owner, ruleText, route, rest = string.match(text, '^([^\n]*)\n([^\n]*)\n([^\n]*)\n([^\n]*)\n(.*)$')
  if not rest then return nil end
  heads[head] = heads[head] or parseHead(head)
  return heads[head] and setmetatable({ owner = owner, ruleText = ruleText, route = route, rest = rest }, heads[head])
end

-- The armed instant of an active recurrence, by its state as it is stored, as text: many are looked at, and few taken apart. nil for none.
function armedIn(text)
  local armed = string.match(text, '^a (%d+) ')
  return armed ~= '0' and armed or nil
end

-- nil where somebody has damaged the state.
function parseState(text)
  -- After an outage the list is long, and a pattern looks at each character of it.
  local bar = string.find(text, '|', 1, true)
  if not bar then return nil end
  local state, armed, reached, began, count, blockedDue, wall, changed, zones =
    string.match(string.sub(text, 1, bar - 1), '^(%l) (%d+) (%d+) (%d+) (%d+) (%d+) (%-?%d+) (%d+) (.*)$')
  if not zones then return nil end
  local line = string.find(text, '\n', bar, true)
  local list, reason = string.sub(text, bar + 1, (line or 0) - 1), line and string.sub(text, line + 1) or ''
  return {
    state = state, armed = tonumber(armed), reached = tonumber(reached), began = tonumber(began), count = tonumber(count),
    blockedDue = tonumber(blockedDue), wall = tonumber(wall), changed = tonumber(changed), zones = zones, list = list, reason = reason,
  }
end

function formatState(s)
  local reason = s.reason ~= '' and '\n' .. s.reason or ''
  return s.state .. ' ' .. digits(s.armed) .. ' ' .. digits(s.reached) .. ' ' .. digits(s.began) .. ' ' .. digits(s.count) .. ' '
    .. digits(s.blockedDue) .. ' ' .. digits(s.wall) .. ' ' .. digits(s.changed) .. ' ' .. s.zones .. '|' .. s.list .. reason
end
