-- Takes waiting jobs out of their queue for good, and counts them as cancelled; their ids are free at once. The same for jobs that
-- are queued behind a running one; these count as scheduled only now, and no attempt follows the run (see turn/settle/takeover.lua).
-- `cancelled`, `unqueued`: ids of waiting jobs, and of queued ones. `refuseOtherKinds` stops the script before anything is written where
-- somebody has given one of these keys another type.
-- An armed occurrence of a recurrence is passed over by that.
-- `skipped`: ids of recurrences of which that is so. The caller is to tend them, which arms the next.
-- @takes base, jobsKey, claimsKey, failuresKey, queuedKey, statsKey, tagsOf, openLane, takeFromLane, closeLanes, untagJob, writeUntagged, tagsWithout
-- @gives cancelled, unqueued, skipped, cancelWaiting, cancelQueued, refuseOtherKinds, writeCancelled
cancelled, unqueued = {}, {}
skipped = {}
local states, lastRuns = {}, {}

-- What stands before the list of its state is enough: see recur/record.lua.
local function passOver(recurrence, at)
  local text = redis.call('HGET', base .. 'timetable', recurrence) or ''
  local state, armed, others, last = string.match(text, '^(%l) (%d+) %d+ (%d+ %d+) %d+ %-?%d+ (.*)$')
  if state ~= 'a' or armed ~= at then return nil end
  skipped[#skipped + 1] = recurrence
  states[#states + 1] = recurrence
  states[#states + 1] = 'a 0 ' .. at .. ' ' .. others .. ' 0 0 ' .. last
end

-- Read phase. `lane`: the one in which the job waits.
function cancelWaiting(id, envelope, lane)
  takeFromLane(openLane(lane), id)
  untagJob(id, tagsOf(envelope))
  cancelled[#cancelled + 1] = id
  local recurrence, at = string.match(id, '^(.*)@(%d+)$')
  if recurrence and string.find(envelope, '^[^\n]*\n%d+ co') then passOver(recurrence, at) end
end

-- Read phase. `envelope`: that of the running job, if it is there.
function cancelQueued(id, queued, envelope)
  untagJob(id, tagsWithout(queued.tags, tagsOf(envelope or '')))
  unqueued[#unqueued + 1] = id
  local fence, marks, others = string.match(redis.call('HGET', claimsKey, id) or '', '^(%d+)(%l*)( .*)$')
  -- Where somebody has taken the claim there is nothing to mark.
  if not fence then return end
  lastRuns[#lastRuns + 1] = id
  lastRuns[#lastRuns + 1] = fence .. string.gsub(marks, '[fq]', '') .. 'f' .. others
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
