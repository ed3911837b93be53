-- Puts the jobs that one call has claimed together again: they share its fence and, not renewed since, the end of its lease.
-- Also answers the letter behind the fence: 'u' where the worker has to confirm the claim, 'o' where its leases are over. With 'o' the
-- worker gives the jobs back; it gets no envelopes, as these may have taken too long. Until the jobs are back their records are marked,
-- so that a worker that recovers them first counts no crash. A copy of the call that was held up on the way marks nothing: the call
-- was answered before, and the jobs may have run.
local function claimedWith(fence, leaseUntil, deadline)
  local out, unmarked, isOver, how = {}, {}, tonumber(leaseUntil) <= now, ''
  for _, id in ipairs(redis.call('ZRANGE', activeKey, leaseUntil, leaseUntil, 'BYSCORE')) do
    local record = redis.call('HGET', claimsKey, id)
    local r = marksOf(record, fence) and parseRecord(record)
    if r then
      local isMarked = hasMark(r.marks, 'u')
      if isOver then how = 'o' elseif isMarked then how = 'u' end
      if isOver and not isMarked then
        unmarked[#unmarked + 1] = id
        unmarked[#unmarked + 1] = fence .. 'u' .. string.sub(record, #fence + 1)
      end
      local envelope = not isOver and redis.call('HGET', jobsKey, id) or ''
      for _, field in ipairs({ id, digits(r.due) .. ' ' .. r.attempt .. ' ' .. r.crashes, envelope }) do out[#out + 1] = field end
    end
  end
  if unmarked[1] and (deadline == 0 or now <= deadline) then
    -- The first write needs no memory: Redis checks its memory only at the first one.
    redis.call('PEXPIRE', receiptKey, keepRecordMs)
    redis.call('HSET', claimsKey, unpack(unmarked))
  end
  return out, how
end
