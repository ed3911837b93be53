-- What keeps a whole queue shut, and when somebody has to look after it. All is read in one command.
-- `gate`: `pausedUntil`, epoch ms, 0 where the queue is not paused, math.huge where it has no end; `blackouts`, the windows of
-- blackouts, '' for none (see gate/blackout.lua); `recurrencesAt`, when the recurrences of the queue are to be tended, nil where it has
-- none; `tendAt`, when they are, or its blackouts, whichever is earlier, nil where neither are. A text that is none of these shuts nothing.
-- @needs parts/clock.lua
-- @takes gateKey
-- @gives gate
local found = redis.call('HMGET', gateKey, 'pausedUntil', 'blackouts', 'tendAt', 'blackoutsTendAt')
local pausedUntil, recurrencesAt, blackoutsAt = found[1], tonumber(found[3] or nil), tonumber(found[4] or nil)
-- The clock went back: walks through all recurrences begin every 7 s (see redis/recur/redis-tending.ts).
if recurrencesAt and recurrencesAt > now + 10000 then recurrencesAt = now end
gate = {
  pausedUntil = pausedUntil == 'inf' and math.huge or tonumber(pausedUntil or 0) or 0,
  blackouts = found[2] or '',
  recurrencesAt = recurrencesAt,
  tendAt = recurrencesAt and blackoutsAt and math.min(recurrencesAt, blackoutsAt) or recurrencesAt or blackoutsAt,
}
