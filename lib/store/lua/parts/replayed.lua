-- Puts the jobs that one call has claimed together again: they share its fence and, not renewed since, the end of its lease.
-- Also tells what stands behind the fence in the answer: 'u' where the worker is to confirm the claim, 'o' where its leases are
-- over: then it gives the jobs back, and gets no envelopes, which may be what took so long. Until that has arrived they are marked,
-- so that whoever recovers them first counts no crash. But not by a copy that was held up on the way: what it asks for has
-- been answered, and the jobs may have run.
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
    -- First a write that needs no memory: Redis only looks at the first.
    redis.call('PEXPIRE', callKey, keepRecordMs)
    redis.call('HSET', claimsKey, unpack(unmarked))
  end
  return out, how
end
