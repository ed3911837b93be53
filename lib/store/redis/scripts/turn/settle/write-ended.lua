-- Removes what a queue knows of jobs that have ended.
-- `endedIds`: these jobs. `withoutFailures`: all whose failures are no longer to be told. `hasFailures`: whether failures are kept at all: mostly
-- nothing has failed, and then there is no need to hand all ids over.
-- @takes endedIds, withoutFailures, hasFailures, jobsKey, claimsKey, failuresKey
if endedIds[1] then
  redis.call('HDEL', jobsKey, unpack(endedIds))
  redis.call('HDEL', claimsKey, unpack(endedIds))
end
if withoutFailures[1] and hasFailures then redis.call('HDEL', failuresKey, unpack(withoutFailures)) end
