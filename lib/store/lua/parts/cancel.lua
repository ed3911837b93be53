-- Waiting jobs are taken out of their queue for good and counted as cancelled; their ids are free at once. So are jobs that are
-- queued behind a running one, which count as scheduled only now.
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

-- A key that somebody has made of another kind is to stop the script while nothing is written.
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
