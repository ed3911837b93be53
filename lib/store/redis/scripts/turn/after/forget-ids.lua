-- Forgets used ids whose time is over: as many as this turn has `added`, and FORGOTTEN_A_TURN more, so that their number falls, and the script
-- stays short. `forgotten`: how many.
-- @needs parts/clock.lua
-- @takes usedIdsKey, added
-- @gives forgotten
local ids = redis.call('ZRANGE', usedIdsKey, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, added + FORGOTTEN_A_TURN)
if ids[1] then redis.call('ZREM', usedIdsKey, unpack(ids)) end
forgotten = #ids
