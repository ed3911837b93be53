-- limits: how far the limits over all processes are used up.
-- KEYS[1] sq:{<queue>}:active      ZSET job id -> end of its lease (epoch ms)
-- KEYS[2] sq:{<queue>}:paused      STRING until when nothing is claimed (epoch ms, or 'inf')
-- KEYS[3] sq:{<queue>}:rate        ZSET how many jobs had started in all -> when that was reached (epoch ms)
-- ARGV[1] the rate's window (ms)
-- Returns {now, how many run, paused until (epoch ms, 'inf', or '' if not), how many have started in the window, when the
--   first of those leaves it (epoch ms)}.
-- Repeating it: it only reads.
local pausedKey, rateKey = KEYS[2], KEYS[3]
local rateWindowMs = tonumber(ARGV[1])
-- @include parts/clock.lua
-- @include parts/gate.lua
local pauseEnds, rate = pausedUntil(), readRate()
local paused = ''
if pauseEnds == math.huge then paused = 'inf' elseif pauseEnds > now then paused = digits(pauseEnds) end
return { digits(now), redis.call('ZCARD', KEYS[1]), paused, rate.total - rate.before, digits(rate.opensAt) }
