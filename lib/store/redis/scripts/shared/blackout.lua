-- In a blackout nothing of a queue is claimed. The sorted set `blackouts` holds the blackouts ahead, "<from> <to>" under `to`, in epoch ms;
-- they are disjoint. Those that are over stay for a day: the clock may have gone ahead, and may be set back. `gate` holds a copy of the one
-- that is on or comes next, and when that was noted, "<from> <to> <noted>", so that a turn need not read the set; '- -' for none. The first
-- turn to look after its end, or before it was noted, reads the set. Where blackouts come again for ever, the last entry is "<from> inf":
-- beyond that time nobody has computed them, and the queue is shut until somebody has.
-- `blackout`: `from` and `to` of the one that is on or comes next, and `isOn`; nil where none is known. `gate.nextBlackout`:
-- what the key is to hold from now on, '' for nothing; nil where it holds the right one. `keptFrom`: what ended earlier, or just then, is to
-- be forgotten.
-- @needs shared/clock.lua
-- @takes gate, blackoutsKey
-- @gives blackout, keptFrom, copyOfBlackout
local KEPT_MS = 86400000
keptFrom = now - KEPT_MS

local function parse(text)
  local from, to = string.match(text, '^(%d+) (%w+)')
  to = to == 'inf' and math.huge or tonumber(to)
  return to and { from = tonumber(from), to = to, isOn = tonumber(from) <= now }
end

-- For `gate`. `text`: of the one that is on or comes next, nil for none.
function copyOfBlackout(text)
  return (text or '- -') .. ' ' .. digits(now)
end

blackout = parse(gate.blackout)
local notedAt = tonumber(string.match(gate.blackout, '^%S+ %S+ (%d+)$') or nil)
local isOver = blackout and blackout.to <= now or notedAt and not blackout and notedAt <= keptFrom
if isOver or notedAt and now < notedAt then
  local next = redis.call('ZRANGE', blackoutsKey, '(' .. digits(now), '+inf', 'BYSCORE', 'LIMIT', 0, 1)[1]
  local isSomeKept = next or redis.call('ZCOUNT', blackoutsKey, '(' .. digits(keptFrom), '+inf') > 0
  gate.nextBlackout = isSomeKept and copyOfBlackout(next) or ''
  blackout = next and parse(next)
end
