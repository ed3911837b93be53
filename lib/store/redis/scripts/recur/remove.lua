-- Deletes a recurrence and its armed occurrence, which counts as cancelled.
-- @needs parts/lanes.lua, recur/forget.lua
-- @takes jobsKey, statsKey, receiptKey, keepReceiptMs
-- @gives removeRecurrence
local counted, changedEntries = {}, {}
local function noteChanged(entry) changedEntries[1] = entry end
-- @include recur/disarm.lua

function removeRecurrence(entry)
  if entry.state then disarm(entry) end
  resolveDisarmed()
  -- The first write needs no memory: Redis checks its memory only at the first one.
  readLevels()
  redis.call('PEXPIRE', receiptKey, keepReceiptMs)
  forget({ entry.id })
  closeLanes()
  writeDisarmed()
  for counter, by in pairs(counted) do redis.call('HINCRBY', statsKey, counter, by) end
end
