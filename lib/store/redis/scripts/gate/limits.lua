-- limits: how far the limits over all processes are used up.
-- @keys active, rate
-- @arg rateWindowMs ms: how long a start counts, 0 = there is no rate
-- @returns now text, running number, started number, opensAt text: how many jobs run, how many have started in the window, and when
--   the first of those leaves it (epoch ms)
-- @repeat it only reads.
-- @needs parts/clock.lua
-- @include gate/rate.lua
return { digits(now), redis.call('ZCARD', activeKey), rate.total - rate.before, digits(rate.opensAt) }
