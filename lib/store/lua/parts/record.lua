-- A claim record: "<fence> <attempt> <crashes> <due> <holder> <lane>" and the job's tags, a tab before each. Fence 0 and
-- holder "-": nobody holds the job.
-- It exists from a job's first claim on, and outlives it while the job waits for its next attempt or lies dead.
-- Letters behind the fence mark what is rare: 'c' that somebody wants the running job cancelled; 'u' (unconfirmed) that nobody
-- knows yet whether the claim has reached its worker, which begins none of these jobs before it has renewed their leases. A marked record does not match
-- its holder's fence at first sight, so that ordinary settlements pay nothing for marks.
local isHeld
do
  -- How the records of held jobs begin, by fence: a turn settles hundreds of the same one.
  local heldPrefixes = {}
  function isHeld(record, fence)
    local prefix = heldPrefixes[fence]
    if not prefix then
      prefix = fence .. ' '
      heldPrefixes[fence] = prefix
    end
    return record and string.find(record, prefix, 1, true) == 1
  end
end

-- The marks of a record that is held under this fence, '' for none; nil where the fence is another one.
local function marksOf(record, fence)
  if not record or string.sub(record, 1, #fence) ~= fence then return nil end
  return string.match(record, '^(%l*) ', #fence + 1)
end

local function hasMark(marks, mark)
  return marks and string.find(marks, mark, 1, true) ~= nil
end

local function parseRecord(record)
  local fence, marks, attempt, crashes, due, holder, lane, tags = string.match(record, '^(%d+)(%l*) (%d+) (%d+) (%d+) (%S+) ([^\t]*)(.*)$')
  -- One that somebody has damaged is none.
  if not lane then return nil end
  return { fence = fence, marks = marks, attempt = tonumber(attempt), crashes = tonumber(crashes), due = tonumber(due), holder = holder, lane = lane, tags = tags }
end

local function formatRecord(fence, attempt, crashes, due, holder, lane, tags)
  return fence .. ' ' .. attempt .. ' ' .. crashes .. ' ' .. due .. ' ' .. holder .. ' ' .. lane .. tags
end

local function unheldRecord(r)
  return formatRecord('0', r.attempt, r.crashes, digits(r.due), '-', r.lane, r.tags)
end

local function withoutMark(record, fence, marks, mark)
  return fence .. string.gsub(marks, mark, '') .. string.sub(record, #fence + #marks + 1)
end

-- Puts the jobs that one call has claimed together again: they share its fence and, not renewed since, the end of its lease.
-- Also tells what stands behind the fence in the answer: 'u' where the worker is to confirm the claim, 'o' where its leases are
-- over: then it gives the jobs back, and gets no envelopes, which may be what took so long. Until that has arrived they are marked,
-- so that whoever recovers them first counts no crash. But not by a copy that was held up on the way: what it asks for has
-- been answered, and the jobs may have run.
local function claimedWith(fence, leaseUntil)
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
