-- What keeps a whole queue shut, and when somebody has to look after it. All is read in one command.
-- `gate`: `pausedUntil`, epoch ms, 0 where the queue is not paused, math.huge where it has no end; `blackouts`, the windows of
-- blackouts, '' for none (see gate/blackout.lua); `recurrencesAt`, when the recurrences of the queue are to be tended, nil where it has
-- none; `blackoutsAt`, when more blackouts are to be computed, nil for never; `tendAt`, the earlier of these two, nil for neither. A text that is none of these shuts nothing.
-- @needs parts/clock.lua
-- @takes gateKey
-- @gives gate
local found = redis.call('HMGET', gateKey, 'pausedUntil', 'blackouts', 'tendAt', 'blackoutsTendAt')
local pausedUntil, recurrencesAt, blackoutsAt = found[1], tonumber(found[3] or nil), tonumber(found[4] or nil)
-- The clock went back: walks through all recurrences begin every 7 s (see redis/recur/redis-tending.ts).
if recurrencesAt and recurrencesAt > now + 10000 then recurrencesAt = now end
-- The clock went back as well: when they were computed, half of the time for which they are known was to pass until then.
local knownUntil = blackoutsAt and tonumber(string.match(string.sub(found[2] or '', -20), '(%d+)%-inf$') or nil)
if knownUntil and blackoutsAt - now > knownUntil - blackoutsAt + 10000 then blackoutsAt = now end
gate = {
  pausedUntil = pausedUntil == 'inf' and math.huge or tonumber(pausedUntil or 0) or 0,
  blackouts = found[2] or '',
  recurrencesAt = recurrencesAt,
  blackoutsAt = blackoutsAt,
  tendAt = recurrencesAt and blackoutsAt and math.min(recurrencesAt, blackoutsAt) or recurrencesAt or blackoutsAt,
}
