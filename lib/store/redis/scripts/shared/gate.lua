-- `gate` holds what keeps a whole queue shut. Its field `pausedUntil` says until when nothing is claimed: epoch ms, or 'inf'. A
-- text that is neither pauses nothing.
-- @takes gateKey
-- @gives pausedUntil
local text = redis.call('HMGET', gateKey, 'pausedUntil')[1]
pausedUntil = text == 'inf' and math.huge or tonumber(text or 0) or 0
