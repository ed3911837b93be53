-- Ends a turn of ordinary.lua or in-order.lua: when the session looks again, that the queue is served, the receipt, messages and the answer.
-- `startedCount`: how many jobs are handed out. `claimed`, `told`: what the answer says of these, and of other jobs (nil for nothing). `wakeOthers`: sends
-- the messages of this turn, nil for none.
-- @needs parts/clock.lua
-- @takes settings, me, outlook, startedCount, bits, fence, unconfirmed, claimed, told, wakeOthers, handlers, stopped, nextCursor, nextEvent, yield, firstLeaseEnd, grace, base, servedKey, sleepersKey, grouping, receiptKey, callNumber, keepReceiptMs
-- @include turn/after/sleep.lua
-- Most turns overwrite the session's entry in list-sleeper.lua. Where none did, the old entry goes, or others would tell a session that does not
-- wait. `pcall`: see sleep.lua.
if not outlook.isSleeper and not outlook.isOffSleepers then redis.pcall('ZREM', sleepersKey, me.session) end
-- A session that claims fewer than FEWEST_JOBS is not noted: no worker gives up its second turn for it.
local hasFilled = startedCount >= FEWEST_JOBS and outlook.limitAfter <= 0
local lastToFill = hasFilled and me.session or grace.lastToFill
-- A silence is told by leases: the stamp need be no finer than a small part of one.
local stampRest = (grace.postponedAt == 0 and '0 0' or digits(grace.recoverFrom) .. ' ' .. digits(grace.postponedAt)) .. ' ' .. lastToFill
if not grace.servedAt or math.abs(now - grace.servedAt) > settings.leaseMs / STAMPS_A_LEASE or stampRest ~= grace.stampRest then
  redis.call('SET', servedKey, digits(now) .. ' ' .. stampRest)
end
-- An idle turn writes its receipt too: a copy of it that was held up on the way would claim jobs that nobody then runs.
local result = table.concat(bits) .. '-' .. digits(fence) .. ' ' .. digits(now + settings.leaseMs) .. ' '
-- @include parts/answer.lua

-- Messages come last, as they cannot be taken back.
if wakeOthers then wakeOthers() end
local isContended = grace.lastToFill ~= '' and grace.lastToFill ~= me.session
-- With µs: a session that took it for the whole millisecond would wake up to one later.
return { 'done', nowWithUs, table.concat(bits), told and table.concat(told.lost, '\n') or '', told and table.concat(told.toCancel, '\n') or '', told and table.concat(told.late, '\n') or '', digits(outlook.lookAt), digits(fence) .. unconfirmed, isContended and '1' or '', unpack(claimed) }
