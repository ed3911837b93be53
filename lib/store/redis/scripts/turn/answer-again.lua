-- Answers a turn that has run before. The jobs that it claimed share its fence and, if they have not been renewed since, the end of their
-- leases; so they are found again without having been listed in the receipt.
-- A letter behind the fence: 'u' where the session has to confirm the claim, 'o' where its leases are over. With 'o' the session gives
-- the jobs back; it gets no envelopes, as these may have taken too long. Until the jobs are back their claims are marked, so that a
-- session that recovers them first counts no crash. A copy of the call that was held up on the way marks nothing: the call was
-- answered before, and the jobs may have run.
-- @needs parts/clock.lua, parts/claim.lua, turn/claims.lua
-- @takes earlierAnswer, deadline, jobsKey, claimsKey, activeKey, receiptKey, keepReceiptMs
local bits, fence, leaseUntil, suspect = string.match(earlierAnswer, '^([0-4]*)%-(%d+) (%d+) (%l*)$')
local claimed, unmarked, isOver, letter = {}, {}, tonumber(leaseUntil) <= now, ''
for _, id in ipairs(redis.call('ZRANGE', activeKey, leaseUntil, leaseUntil, 'BYSCORE')) do
  local text = redis.call('HGET', claimsKey, id)
  local claim = marksOf(text, fence) and parseClaim(text)
  if claim then
    local isMarked = hasMark(claim.marks, 'u')
    if isOver then letter = 'o' elseif isMarked then letter = 'u' end
    if isOver and not isMarked then
      unmarked[#unmarked + 1] = id
      unmarked[#unmarked + 1] = fence .. 'u' .. string.sub(text, #fence + 1)
    end
    local envelope = not isOver and redis.call('HGET', jobsKey, id) or ''
    for _, field in ipairs({ id, digits(claim.due) .. ' ' .. claim.attempt .. ' ' .. claim.crashes, envelope }) do claimed[#claimed + 1] = field end
  end
end
if unmarked[1] and (deadline == 0 or now <= deadline) then
  -- The first write needs no memory: Redis checks its memory only at the first one.
  redis.call('PEXPIRE', receiptKey, keepReceiptMs)
  redis.call('HSET', claimsKey, unpack(unmarked))
end
do return { 'replayed', digits(now), bits, {}, {}, {}, {}, {}, {}, digits(now), fence .. letter, '', '', suspect, {}, '-', {}, '-', {}, unpack(claimed) } end
