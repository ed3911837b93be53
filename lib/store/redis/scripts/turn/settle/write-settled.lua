-- Writes what has become of the jobs that this turn settles, recovers or turns away.
-- `keepCompleted`: keeps a job that has completed; nil where the queue keeps none.
-- @needs parts/claim-text.lua, parts/clock.lua, parts/lanes.lua, turn/claims.lua
-- @takes settings, decided, endJob, jobsKey, claimsKey, failuresKey, activeKey, deadKey, usedIdsKey, queuedKey, statsKey, noteFailure, keepCompleted
local endedIds, settlements, takeovers, counted, remembered = decided.endedIds, decided.settlements, decided.takeovers, decided.counted, decided.remembered
-- In one removal, as it may empty the key.
if settlements[1] then
  local ids = { unpack(endedIds) }
  for _, s in ipairs(settlements) do ids[#ids + 1] = s.id end
  redis.call('ZREM', activeKey, unpack(ids))
elseif endedIds[1] then
  redis.call('ZREM', activeKey, unpack(endedIds))
end
-- Before the other settlements add to the ended ones.
if endedIds[1] then counted.completed = #endedIds end
if settlements[1] then
  local function count(counter)
    counted[counter] = (counted[counter] or 0) + 1
  end

  local function rememberId(s)
    if not string.find(s.first, 'r', 1, true) or settings.keepIdsMs == 0 then return end
    remembered[#remembered + 1] = digits(now + settings.keepIdsMs)
    remembered[#remembered + 1] = s.id
  end

  local function putBack(s)
    decided.looksAgain = decided.looksAgain or s.claim.due <= now
    addToLane(openLane(s.claim.lane), s.id, s.claim.due)
    redis.call('HSET', claimsKey, s.id, unheldClaim(s.claim))
  end

  -- One function for each transition that reaches `settlements`. A missing one would stop the script after its first write.
  local write = {}
  function write.complete(s)
    count('completed')
    endJob(s.id, s.claim.tags)
    rememberId(s)
    if keepCompleted then keepCompleted(s) end
  end
  function write.retry(s)
    s.claim.due = now + s.first
    putBack(s)
    noteFailure(s)
    count('failed')
    count('retried')
  end
  function write.dead(s)
    s.claim.idWasChosen = string.find(s.first, 'r', 1, true) ~= nil
    if string.find(s.first, 'n', 1, true) then s.claim.attempt = s.claim.attempt - 1 end
    if s.lostEnvelope then redis.call('HSET', jobsKey, s.id, s.claim.lane .. '\n0 ' .. s.claim.tags .. '\n\n') end
    redis.call('ZADD', deadKey, digits(now), s.id)
    redis.call('HSET', claimsKey, s.id, unheldClaim(s.claim))
    noteFailure(s)
    if string.find(s.first, 'f', 1, true) then count('failed') end
    count('dead')
    decided.died = decided.died + 1
  end
  function write.snooze(s)
    local due = s.first
    s.claim.due = due > 0 and due or now - due
    s.claim.attempt = s.claim.attempt - 1
    putBack(s)
    count('snoozed')
  end
  function write.discard(s)
    endJob(s.id, s.claim.tags)
    rememberId(s)
    count('discarded')
  end
  function write.release(s)
    s.claim.attempt = s.claim.attempt - 1
    putBack(s)
    -- It was due when it was claimed, so it is due now, even where the clock has gone back.
    decided.looksAgain = true
  end
  function write.cancel(s)
    endJob(s.id, s.claim.tags)
    count('cancelled')
  end
  -- As a job that has never run, except that it keeps the crashes of the run before.
  function write.takePlace(s)
    local queued = s.queued
    redis.call('HSET', jobsKey, s.id, queued.envelope)
    redis.call('HSET', claimsKey, s.id, formatClaim('0n', 0, queued.crashes, digits(queued.due), '-', queued.lane, queued.tags))
    addToLane(openLane(queued.lane), s.id, queued.due)
    decided.looksAgain = decided.looksAgain or queued.due <= now
    takeovers.placed[#takeovers.placed + 1] = s.id
  end

  for _, s in ipairs(settlements) do
    write[s.transition](s)
    for _, counter in ipairs(s.counted or {}) do count(counter) end
  end
end
local withoutFailures = endedIds
if takeovers and takeovers.placed[1] then
  withoutFailures = { unpack(endedIds) }
  for _, id in ipairs(takeovers.placed) do withoutFailures[#withoutFailures + 1] = id end
end
-- Asked here, as not every script that settles has asked before.
local hasFailures = withoutFailures[1] and redis.call('EXISTS', failuresKey) == 1
-- @include turn/settle/write-ended.lua
if takeovers and takeovers.over[1] then redis.call('HDEL', queuedKey, unpack(takeovers.over)) end
if remembered[1] then redis.call('ZADD', usedIdsKey, unpack(remembered)) end
for counter, by in pairs(counted) do redis.call('HINCRBY', statsKey, counter, by) end
