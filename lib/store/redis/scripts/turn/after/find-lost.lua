-- Where `gate` is lost, nobody would be told to tend the queue any more. A session that lists itself, every few seconds, sees that there is
-- something to tend: recurrences, or a list of blackouts of which no window is known.
-- @needs shared/clock.lua
-- @takes me, gate, base
if me.presence == 'here' and gate then
  local isLost = gate.blackout == '' and redis.call('EXISTS', base .. 'blackoutRules') == 1
    or not gate.recurrencesAt and redis.call('EXISTS', base .. 'timetable') == 1
  if isLost then gate.tendAt = now end
end
