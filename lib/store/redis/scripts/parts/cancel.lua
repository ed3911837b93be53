-- Takes waiting jobs out of their queue for good, and counts them as cancelled; their ids are free at once. The same for jobs that
-- are queued behind a running one; these count as scheduled only now.
-- Needs `jobsKey`, `claimsKey`, `failuresKey`, `queuedKey`, `statsKey`, and the parts envelope, lanes, untag and queued.

-- Ids of waiting jobs, and of queued ones.
local cancelled, unqueued = {}, {}

-- Read phase. `lane`: the one in which the job waits.
local function cancelWaiting(id, envelope, lane)
  takeFromLane(openLane(lane), id)
  untagJob(id, tagsOf(envelope))
  cancelled[#cancelled + 1] = id
end

-- Read phase. `envelope`: that of the running job, if it is there.
local function cancelQueued(id, queued, envelope)
  untagJob(id, queuedJobs.without(queued.tags, tagsOf(envelope or '')))
  unqueued[#unqueued + 1] = id
end

-- Stops the script before anything is written where somebody has given one of these keys another type.
local function refuseOtherKinds()
  redis.call('HLEN', claimsKey)
  redis.call('HLEN', failuresKey)
  redis.call('HGET', statsKey, 'cancelled')
end

local function writeCancelled()
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
