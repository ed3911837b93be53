-- Where `gate` is lost, nobody would be told to tend the queue any more. A session that lists itself, every few seconds, sees that there is
-- something to tend: recurrences, or a list of blackouts of which no window is known.
-- @takes presence, gate, base, now
if presence == 'here' and gate then
  local function isThere(key) return redis.call('EXISTS', base .. key) == 1 end
  if not gate.recurrencesAt and (isThere('timetable') or isThere('recurrences')) or gate.blackout == '' and isThere('blackoutRules') then
    gate.tendAt = now
  end
end
