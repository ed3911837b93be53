-- The fence of what this turn hands out. The clock keeps fences growing where a failover has lost the counter, the counter where the clock went back.
-- `lastFence`: the counter; false or nil for none.
-- @needs parts/clock.lua
-- @takes lastFence
-- @changes fence
fence = math.max(tonumber(lastFence or 0) or 0, nowUs) + 1
