-- limits: how far the limits over all processes are used up.
-- KEYS[1] sq:{<queue>}:active      ZSET job id -> end of its lease (epoch ms)
-- KEYS[2] sq:{<queue>}:rate        ZSET how many jobs had started in all -> when that was reached (epoch ms)
-- ARGV[1] the rate's window (ms)
-- Returns {now, how many jobs run, how many have started in the window, when the first of those leaves it (epoch ms)}.
-- Repeating it: it only reads.
local rateKey, rateWindowMs = KEYS[2], tonumber(ARGV[1])
-- @include parts/clock.lua
-- @include parts/rate.lua
local rate = readRate()
return { digits(now), redis.call('ZCARD', KEYS[1]), rate.total - rate.before, digits(rate.opensAt) }
