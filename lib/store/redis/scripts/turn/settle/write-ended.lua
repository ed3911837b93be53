-- Removes what a queue knows of jobs that have ended.
-- `endedIds`: these jobs. `withoutFailures`: all whose failures are no longer to be told.
-- @takes endedIds, withoutFailures, jobsKey, claimsKey, failuresKey
if endedIds[1] then
  redis.call('HDEL', jobsKey, unpack(endedIds))
  redis.call('HDEL', claimsKey, unpack(endedIds))
end
-- Mostly nothing has failed, and then there is no need to hand all ids over.
if withoutFailures[1] and redis.call('EXISTS', failuresKey) == 1 then redis.call('HDEL', failuresKey, unpack(withoutFailures)) end
