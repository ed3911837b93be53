-- Removes jobs that have completed and leave nothing behind, where a turn settles nothing else.
-- @needs parts/untag.lua
-- @takes base, endedIds, hasFailures, activeKey, jobsKey, claimsKey, failuresKey, statsKey
local withoutFailures = endedIds
redis.call('ZREM', activeKey, unpack(endedIds))
-- @include turn/settle/write-ended.lua
redis.call('HINCRBY', statsKey, 'completed', #endedIds)
writeUntagged()
if leftSets then
  -- @include turn/settle/count-completed.lua
end
