-- Takes new jobs in. A script opens their lanes with `enterLane`, adds them there and to `admitted`, and then writes: `writeAdmitted`
-- writes envelopes, lanes and tags; `writeScheduled` counts the jobs as scheduled, and forgets what was kept under their ids, as each id
-- belongs to the new job now.
-- `admitted`: `fields`, id and envelope of each job; `chosenIds`, ids that were not made by this caller for this call, so something may be
-- kept under them. A script adds to these itself: a function that is called for each job of a burst would cost a schedule a fifteenth.
-- @needs parts/lanes.lua, parts/tag.lua
-- @takes base, jobsKey, usedIdsKey, statsKey, completedKey, resultsKey
-- @gives admitted, writeAdmitted, writeScheduled
admitted = { fields = {}, chosenIds = {} }

-- The first write adds, so that a full memory refuses the call whole.
function writeAdmitted()
  readLevels()
  redis.call('HSET', jobsKey, unpack(admitted.fields))
  closeLanes()
  writeTagged()
end

function writeScheduled()
  redis.call('HINCRBY', statsKey, 'scheduled', #admitted.fields / 2)
  local ids = admitted.chosenIds
  if ids[1] then
    redis.call('ZREM', usedIdsKey, unpack(ids))
    redis.call('ZREM', completedKey, unpack(ids))
    redis.call('HDEL', resultsKey, unpack(ids))
    local hadEnded = redis.call('ZREM', base .. 'ended', unpack(ids)) > 0
    if hadEnded then
      redis.call('HDEL', base .. 'endings', unpack(ids))
    end
  end
end
