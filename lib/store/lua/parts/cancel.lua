-- Waiting jobs are taken out of their queue for good: counted as cancelled, and the ids that their callers chose are remembered.
-- Needs `jobsKey`, `claimsKey`, `failuresKey`, `endedKey`, `statsKey`, `keepIdsMs`, and the parts envelope, lanes and untag.

-- How many more ids are forgotten a call than it adds: no worker need ever look into a queue whose jobs are all cancelled.
local FORGOTTEN_A_CALL = 9

local cancelled, toRemember = {}, {}

-- Read phase. `lane`: the one in which the job waits.
local function cancelWaiting(id, envelope, lane)
  takeFromLane(openLane(lane), id)
  untagJob(id, tagsOf(envelope))
  cancelled[#cancelled + 1] = id
  if idWasChosen(envelope) and keepIdsMs > 0 then
    toRemember[#toRemember + 1] = digits(now + keepIdsMs)
    toRemember[#toRemember + 1] = id
  end
end

-- A key that somebody has made of another kind is to stop the script while nothing is written.
local function refuseOtherKinds()
  redis.call('HLEN', claimsKey)
  redis.call('HLEN', failuresKey)
  redis.call('HGET', statsKey, 'cancelled')
end

local function writeCancelled()
  if cancelled[1] then
    refuseOtherKinds()
    local over = redis.call('ZRANGE', endedKey, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, #toRemember / 2 + FORGOTTEN_A_CALL)
    redis.call('HDEL', jobsKey, unpack(cancelled))
    closeLanes()
    redis.call('HDEL', claimsKey, unpack(cancelled))
    redis.call('HDEL', failuresKey, unpack(cancelled))
    redis.call('HINCRBY', statsKey, 'cancelled', #cancelled)
    if toRemember[1] then
      redis.call('ZADD', endedKey, unpack(toRemember))
      if over[1] then redis.call('ZREM', endedKey, unpack(over)) end
    end
  end
  writeUntagged()
end
