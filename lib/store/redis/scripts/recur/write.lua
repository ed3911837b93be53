-- Writes what a call has changed of recurrences and their jobs.
-- @takes statsKey, counted, writeArmed, closeLanes, writeDisarmed
writeArmed()
closeLanes()
writeDisarmed()
for counter, by in pairs(counted) do redis.call('HINCRBY', statsKey, counter, by) end
