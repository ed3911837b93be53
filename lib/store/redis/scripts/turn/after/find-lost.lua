-- Where `gate` is lost, nobody would be told to tend the recurrences of the queue any more: a session that lists itself, every few seconds,
-- sees that there are some.
-- @needs parts/clock.lua
-- @takes me, gate, base
if me.presence == 'here' and gate and not gate.recurrencesAt and redis.call('EXISTS', base .. 'timetable') == 1 then gate.tendAt = now end
