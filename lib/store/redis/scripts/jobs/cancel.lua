-- Takes waiting jobs out of their queue for good, and counts them as cancelled; their ids are free at once. The same for jobs that
-- are queued behind a running one; these count as scheduled only now.
-- `cancelled`, `unqueued`: ids of waiting jobs, and of queued ones. `refuseOtherKinds` stops the script before anything is written where
-- somebody has given one of these keys another type.
-- @takes jobsKey, claimsKey, failuresKey, queuedKey, statsKey, tagsOf, openLane, takeFromLane, closeLanes, untagJob, writeUntagged, tagsWithout
-- @gives cancelled, unqueued, cancelWaiting, cancelQueued, refuseOtherKinds, writeCancelled
cancelled, unqueued = {}, {}

-- Read phase. `lane`: the one in which the job waits.
function cancelWaiting(id, envelope, lane)
  takeFromLane(openLane(lane), id)
  untagJob(id, tagsOf(envelope))
  cancelled[#cancelled + 1] = id
end

-- Read phase. `envelope`: that of the running job, if it is there.
function cancelQueued(id, queued, envelope)
  untagJob(id, tagsWithout(queued.tags, tagsOf(envelope or '')))
  unqueued[#unqueued + 1] = id
end

function refuseOtherKinds()
  redis.call('HLEN', claimsKey)
  redis.call('HLEN', failuresKey)
  redis.call('HGET', statsKey, 'cancelled')
end

function writeCancelled()
  if cancelled[1] or unqueued[1] then refuseOtherKinds() end
  if cancelled[1] then
    redis.call('HDEL', jobsKey, unpack(cancelled))
    closeLanes()
    redis.call('HDEL', claimsKey, unpack(cancelled))
    redis.call('HDEL', failuresKey, unpack(cancelled))
  end
  if unqueued[1] then
    redis.call('HDEL', queuedKey, unpack(unqueued))
    redis.call('HINCRBY', statsKey, 'scheduled', #unqueued)
  end
  if cancelled[1] or unqueued[1] then redis.call('HINCRBY', statsKey, 'cancelled', #cancelled + #unqueued) end
  writeUntagged()
end
