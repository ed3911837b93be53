-- Takes waiting jobs out of their queue for good, and counts them as cancelled; their ids are free at once. The same for jobs that
-- are queued behind a running one; these count as scheduled only now, and no attempt follows the run (see turn/settle/takeover.lua).
-- `cancelled`, `unqueued`: ids of waiting jobs, and of queued ones. `refuseOtherKinds` stops the script before anything is written where
-- somebody has given one of these keys another type.
-- `skipped`: ids of recurrences whose armed occurrence is among them. The caller is to tend these, which arms the next.
-- A holder that waits and is cancelled holds its group no longer.
-- @needs parts/envelope-tags.lua, parts/envelope.lua, parts/claim.lua, parts/lanes.lua, parts/enter.lua, parts/queued.lua, parts/untag.lua, recur/record.lua
-- @takes base, jobsKey, claimsKey, failuresKey, queuedKey, statsKey
-- @changes ofGroups
-- @gives cancelled, unqueued, skipped, cancelWaiting, cancelQueued, refuseOtherKinds, writeCancelled
local freedLanes, freeGroup, endHold = {}, nil, nil
-- @include group/free-group.lua
cancelled, unqueued = {}, {}
skipped = {}
local states, lastRuns = {}, {}

local function skipArmed(recurrence, at)
  local state = parseState(redis.call('HGET', base .. 'timetable', recurrence) or '')
  if not state or state.state ~= 'a' or state.armed ~= at then return nil end
  state.armed, state.reached, state.blockedDue, state.wall = 0, at, 0, 0
  skipped[#skipped + 1] = recurrence
  states[#states + 1] = recurrence
  states[#states + 1] = formatState(state)
end

-- Read phase. `lane`: the one in which the job waits.
function cancelWaiting(id, envelope, lane)
  takeFromLane(openLane(lane), id)
  endHold(id, lane, true)
  untagJob(id, tagsOf(envelope))
  cancelled[#cancelled + 1] = id
  local recurrence, at = string.match(id, '^(.*)@(%d+)$')
  if recurrence and hasFlag(envelope, 'o') then skipArmed(recurrence, tonumber(at)) end
end

-- Read phase. `envelope`: that of the running job, if it is there.
function cancelQueued(id, queued, envelope)
  untagJob(id, tagsWithout(queued.tags, tagsOf(envelope or '')))
  unqueued[#unqueued + 1] = id
  local marked = remarked(redis.call('HGET', claimsKey, id) or '', '[fq]', 'f')
  -- Where somebody has taken the claim there is nothing to mark.
  if not marked then return end
  lastRuns[#lastRuns + 1] = id
  lastRuns[#lastRuns + 1] = marked
end

function refuseOtherKinds()
  redis.call('HLEN', claimsKey)
  redis.call('HLEN', failuresKey)
  redis.call('HGET', statsKey, 'cancelled')
end

function writeCancelled()
  if cancelled[1] or unqueued[1] then refuseOtherKinds() end
  if cancelled[1] then
    readLevels()
    redis.call('HDEL', jobsKey, unpack(cancelled))
    closeLanes()
    redis.call('HDEL', claimsKey, unpack(cancelled))
    redis.call('HDEL', failuresKey, unpack(cancelled))
    if states[1] then redis.call('HSET', base .. 'timetable', unpack(states)) end
  end
  if unqueued[1] then
    redis.call('HDEL', queuedKey, unpack(unqueued))
    if lastRuns[1] then redis.call('HSET', claimsKey, unpack(lastRuns)) end
    redis.call('HINCRBY', statsKey, 'scheduled', #unqueued)
  end
  if cancelled[1] or unqueued[1] then redis.call('HINCRBY', statsKey, 'cancelled', #cancelled + #unqueued) end
  writeUntagged()
end
