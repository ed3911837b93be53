-- Writes what has become of the jobs that this turn settles, recovers or turns away.
-- In one removal, as it may empty the key.
if settlements[1] then
  local ids = { unpack(gone) }
  for _, s in ipairs(settlements) do ids[#ids + 1] = s.id end
  redis.call('ZREM', activeKey, unpack(ids))
elseif gone[1] then
  redis.call('ZREM', activeKey, unpack(gone))
end
-- Before what follows, which adds to these.
if gone[1] then count('completed', #gone) end
if settlements[1] then
  local write = {}
  function write.complete(s)
    count('completed')
    leave(s.id, s.record.tags)
    rememberId(s)
    if keepCompleted.count > 0 then
      redis.call('HSET', resultsKey, s.id, s.record.attempt .. ' ' .. digits(s.record.due) .. '\n' .. s.second .. '\n' .. (s.envelope or ''))
      redis.call('ZADD', completedKey, digits(now), s.id)
    end
  end
  function write.retry(s)
    s.record.due = now + s.first
    lookAgain = lookAgain or s.record.due <= now
    addToLane(openLane(s.record.lane), s.id, s.record.due)
    redis.call('HSET', claimsKey, s.id, unheldRecord(s.record))
    noteFailure(s)
    count('failed')
    count('retried')
  end
  function write.dead(s)
    s.record.idWasChosen = string.find(s.first, 'r', 1, true) ~= nil
    if string.find(s.first, 'n', 1, true) then s.record.attempt = s.record.attempt - 1 end
    if s.lostEnvelope then redis.call('HSET', jobsKey, s.id, s.record.lane .. '\n0 ' .. s.record.tags .. '\n\n') end
    redis.call('ZADD', deadKey, digits(now), s.id)
    redis.call('HSET', claimsKey, s.id, unheldRecord(s.record))
    noteFailure(s)
    if string.find(s.first, 'f', 1, true) then count('failed') end
    count('dead')
    died = died + 1
  end
  function write.snooze(s)
    local due = s.first
    s.record.due = due > 0 and due or now - due
    s.record.attempt = s.record.attempt - 1
    lookAgain = lookAgain or s.record.due <= now
    addToLane(openLane(s.record.lane), s.id, s.record.due)
    redis.call('HSET', claimsKey, s.id, unheldRecord(s.record))
    count('snoozed')
  end
  function write.discard(s)
    leave(s.id, s.record.tags)
    rememberId(s)
    count('discarded')
  end
  function write.release(s)
    s.record.attempt = s.record.attempt - 1
    lookAgain = true
    addToLane(openLane(s.record.lane), s.id, s.record.due)
    redis.call('HSET', claimsKey, s.id, unheldRecord(s.record))
  end

  function write.cancel(s)
    leave(s.id, s.record.tags)
    count('cancelled')
  end

  -- As a job that has never run, except that it keeps the crashes of the run before.
  function write.takePlace(s)
    local queued = s.queued
    redis.call('HSET', jobsKey, s.id, queued.envelope)
    redis.call('HSET', claimsKey, s.id, formatRecord('0', 0, queued.crashes, digits(queued.due), '-', queued.lane, queued.tags))
    addToLane(openLane(queued.lane), s.id, queued.due)
    lookAgain = lookAgain or queued.due <= now
    takeovers.placed[#takeovers.placed + 1] = s.id
    for _, counter in ipairs(s.counted) do count(counter) end
  end

  for _, s in ipairs(settlements) do write[s.transition](s) end
end
if gone[1] then
  redis.call('HDEL', jobsKey, unpack(gone))
  redis.call('HDEL', claimsKey, unpack(gone))
end
do
  local over = gone
  if takeovers and takeovers.placed[1] then
    over = { unpack(gone) }
    for _, id in ipairs(takeovers.placed) do over[#over + 1] = id end
  end
  -- Mostly nothing has failed, and then there is no need to hand all ids over.
  if over[1] and redis.call('EXISTS', failuresKey) == 1 then redis.call('HDEL', failuresKey, unpack(over)) end
end
if takeovers and takeovers.over[1] then redis.call('HDEL', queuedKey, unpack(takeovers.over)) end
if usedIds[1] then redis.call('ZADD', usedIdsKey, unpack(usedIds)) end
for counter, by in pairs(counted) do redis.call('HINCRBY', statsKey, counter, by) end
