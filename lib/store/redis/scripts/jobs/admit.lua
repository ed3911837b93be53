-- Takes new jobs in. `admit` notes a job; `writeAdmitted` writes what was noted; `writeScheduled` counts these jobs as scheduled, and
-- forgets what was kept under their ids, as each id belongs to the new job now.
-- @takes jobsKey, usedIdsKey, statsKey, completedKey, resultsKey, closeLanes, tagJob, writeTagged
-- @gives admit, writeAdmitted, writeScheduled
local fields, chosenIds, count = {}, {}, 0
local lastLane, added, last

-- `lane`: from `enterLane`. `dueText`: epoch ms. `tags`: those under which the id does not stand yet, a tab before each. `isChosen`: the id
-- was not made by this caller for this call, so something may be kept under it.
function admit(lane, id, dueText, envelope, tags, isChosen)
  -- A burst goes into one lane, and to count its members for each job would cost more than to write them.
  if lane ~= lastLane then lastLane, added, last = lane, lane.added, #lane.added end
  added[last + 1], added[last + 2] = dueText, id
  last = last + 2
  count = count + 1
  fields[2 * count - 1], fields[2 * count] = id, envelope
  if tags ~= '' then tagJob(id, tags) end
  if isChosen then chosenIds[#chosenIds + 1] = id end
end

-- The first write adds, so that a full memory refuses the call whole.
function writeAdmitted()
  redis.call('HSET', jobsKey, unpack(fields))
  closeLanes()
  writeTagged()
end

function writeScheduled()
  redis.call('HINCRBY', statsKey, 'scheduled', count)
  if chosenIds[1] then
    redis.call('ZREM', usedIdsKey, unpack(chosenIds))
    redis.call('ZREM', completedKey, unpack(chosenIds))
    redis.call('HDEL', resultsKey, unpack(chosenIds))
  end
end
