-- In a blackout nothing of a queue is claimed. The sorted set `blackouts` holds the blackouts ahead, "<from> <to>" under `to`, in epoch ms;
-- they are disjoint. `gate` holds a copy of the one that is on or comes next, so that a turn need not read the set; the first one to look
-- after its end reads the next one. Where blackouts come again for ever, the last entry is "<from> inf": beyond that time nobody has
-- computed them, and the queue is shut until somebody has.
-- `blackout`: `from` and `to` of the one that is on or comes next, and `isOn`; nil where none is known. `gate.nextBlackout`:
-- what the key is to hold from now on, '' for nothing; nil where it holds the right one.
-- @takes gate, blackoutsKey, now, digits
-- @gives blackout
local function parse(text)
  local from, to = string.match(text, '^(%d+) (%w+)$')
  to = to == 'inf' and math.huge or tonumber(to)
  return to and { from = tonumber(from), to = to, isOn = tonumber(from) <= now }
end

blackout = parse(gate.blackout)
if blackout and blackout.to <= now then
  gate.nextBlackout = redis.call('ZRANGE', blackoutsKey, '(' .. digits(now), '+inf', 'BYSCORE', 'LIMIT', 0, 1)[1] or ''
  blackout = parse(gate.nextBlackout)
end
