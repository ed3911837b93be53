-- Writes what a call has changed of recurrences and their jobs.
-- @needs parts/lanes.lua, recur/arm.lua, recur/disarm.lua
-- @takes statsKey, counted
writeArmed()
closeLanes()
writeDisarmed()
for counter, by in pairs(counted) do redis.call('HINCRBY', statsKey, counter, by) end
