-- Settlements and renewals: both only count where the caller's fence is the one in the claim record. Where the job is to be
-- cancelled, whatever its holder says ends it as cancelled; bit 2 says so.
-- Transitions, with their two arguments:
--   complete  flags ('r': the caller chose the id, remember it)   result to keep
--   retry     delay (ms)                                          failure, one line
--   dead      flags ('n': this attempt never began; 'f': it threw; 'r' as above)  failure, one line, with the reason
--   snooze    due (> 0: at, epoch ms; <= 0: minus the delay in ms)  ''          (goes back, uses no attempt)
--   discard   flags ('r' as above)                                ''
--   release   ''                                                  ''          (goes back, uses no attempt)
--   cancel    flags ('r' as above)                                ''
--   extend    how long from now its lease is to hold (ms)         ''          (stays with its holder)
-- How many failed attempts are kept with a job.
local FAILURES_KEPT = 20

-- Where the next list begins: with its length, then so many fields for each item.
local cursor = 29
local function nextList(width)
  local n, from = tonumber(ARGV[cursor]), cursor
  local list = { n = n }
  for field = 1, width do
    local column = {}
    for i = 1, n do column[i] = ARGV[from + (i - 1) * width + field] end
    list[field] = column
  end
  cursor = from + n * width + 1
  return list
end
local function readRecords(ids)
  return ids[1] and redis.call('HMGET', claimsKey, unpack(ids)) or {}
end

-- Ids that this turn settles or renews: they must not be recovered in it, however late they are.
local mine = {}
-- Ids whose job leaves its holder in this turn: what it says beside that of their leases comes too late.
local leaves = {}
local bits, settlements, gone = {}, {}, {}
local renewed, extended = {}, {}

local function leave(id, tags)
  gone[#gone + 1] = id
  if tags ~= '' then untagJob(id, tags) end
end

-- What is no finite number would stop the script in the middle of its writes; at once is the safe one.
local function finite(text)
  local number = tonumber(text)
  return number and number == number and math.abs(number) < math.huge and number or 0
end

local function settle(s)
  mine[s.id], leaves[s.id] = true, true
  if s.transition == 'complete' then
    s.envelope = redis.call('HGET', jobsKey, s.id)
  elseif s.second ~= '' then
    s.failures = redis.call('HGET', failuresKey, s.id)
  end
  if s.transition == 'retry' or s.transition == 'snooze' then s.first = finite(s.first) end
  if s.transition == 'retry' or s.transition == 'release' or s.transition == 'snooze' then
    openLane(s.record.lane)
    readWakers(nameOf(s.record.lane), group, worker)
  end
  settlements[#settlements + 1] = s
end

local function cancelHeld(id, record)
  -- Once, whatever else is said of it.
  if leaves[id] then return '2' end
  local first = idWasChosen(redis.call('HGET', jobsKey, id) or '') and 'r' or ''
  settle({ transition = 'cancel', id = id, first = first, second = '', record = { tags = tagsOfRecord(record) } })
  return '2'
end

local plain = nextList(2)
local records = readRecords(plain[1])
for i = 1, plain.n do
  local id = plain[1][i]
  bits[i] = '0'
  if isHeld(records[i], plain[2][i]) then
    bits[i] = '1'
    leaves[id] = true
    leave(id, tagsOfRecord(records[i]))
  elseif isToBeCancelled(records[i], plain[2][i]) then
    bits[i] = cancelHeld(id, records[i])
  end
end

local others = nextList(5)
records = readRecords(others[2])
for i = 1, others.n do
  local id, fence = others[2][i], others[3][i]
  local record = isHeld(records[i], fence) and parseRecord(records[i])
  bits[plain.n + i] = '0'
  if record and others[1][i] == 'extend' then
    bits[plain.n + i] = '1'
    extended[#extended + 1] = { id = id, leaseMs = finite(others[4][i]) }
  elseif record then
    bits[plain.n + i] = '1'
    settle({ transition = others[1][i], id = id, first = others[4][i], second = others[5][i], record = record })
  elseif isToBeCancelled(records[i], fence) then
    bits[plain.n + i] = cancelHeld(id, records[i])
  end
end

local function renew(id, ms)
  mine[id] = true
  renewed[#renewed + 1] = digits(now + ms)
  renewed[#renewed + 1] = id
end

for _, e in ipairs(extended) do
  if not leaves[e.id] then renew(e.id, e.leaseMs) end
end

local renewals = nextList(2)
local lost, toCancel = {}, {}
records = readRecords(renewals[1])
for i = 1, renewals.n do
  local id = renewals[1][i]
  local toBeCancelled = isToBeCancelled(records[i], renewals[2][i])
  if toBeCancelled then toCancel[#toCancel + 1] = id end
  if toBeCancelled or isHeld(records[i], renewals[2][i]) then
    renew(id, leaseMs)
  else
    lost[#lost + 1] = id
  end
end

local function noteFailure(settlement)
  local line = digits(now) .. ' ' .. settlement.record.attempt .. ' ' .. settlement.second
  local failures = settlement.failures and settlement.failures .. '\n' .. line or line
  local _, breaks = string.gsub(failures, '\n', '')
  for _ = FAILURES_KEPT, breaks do failures = string.gsub(failures, '^[^\n]*\n', '', 1) end
  redis.call('HSET', failuresKey, settlement.id, failures)
end

local counted, died, ended = {}, 0, {}
-- Whether there is more to fetch at once: a job that this turn put back is due already, or one it picked was turned away.
local lookAgain = false
local function count(counter, by)
  counted[counter] = (counted[counter] or 0) + (by or 1)
end

local function rememberId(s)
  if not string.find(s.first, 'r', 1, true) or keepIdsMs == 0 then return end
  ended[#ended + 1] = digits(now + keepIdsMs)
  ended[#ended + 1] = s.id
end

local write = {}
function write.complete(s)
  count('completed')
  leave(s.id, s.record.tags)
  rememberId(s)
  if keepCompleted.count > 0 then
    redis.call('HSET', finishedKey, s.id, s.record.attempt .. ' ' .. digits(s.record.due) .. '\n' .. s.second .. '\n' .. (s.envelope or ''))
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
  if string.find(s.first, 'n', 1, true) then s.record.attempt = s.record.attempt - 1 end
  if s.lostEnvelope then redis.call('HSET', jobsKey, s.id, s.record.lane .. '\n0 ' .. s.record.tags .. '\n\n') end
  redis.call('ZADD', deadKey, digits(now), s.id)
  redis.call('HSET', claimsKey, s.id, unheldRecord(s.record))
  noteFailure(s)
  if string.find(s.first, 'f', 1, true) then count('failed') end
  count('dead')
  died = died + 1
  rememberId(s)
end
function write.snooze(s)
  local due = s.first
  s.record.due = due > 0 and math.max(due, now) or now - due
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
  rememberId(s)
  count('cancelled')
end

local function writeSettlements()
  local leaving = {}
  for _, s in ipairs(settlements) do leaving[#leaving + 1] = s.id end
  for _, id in ipairs(gone) do leaving[#leaving + 1] = id end
  if not leaving[1] then return end
  if gone[1] then count('completed', #gone) end
  redis.call('ZREM', activeKey, unpack(leaving))
  for _, s in ipairs(settlements) do write[s.transition](s) end
  if gone[1] then
    redis.call('HDEL', jobsKey, unpack(gone))
    redis.call('HDEL', claimsKey, unpack(gone))
    -- Mostly nothing has failed, and then there is no need to hand all ids over.
    if redis.call('EXISTS', failuresKey) == 1 then redis.call('HDEL', failuresKey, unpack(gone)) end
  end
  if ended[1] then redis.call('ZADD', endedKey, unpack(ended)) end
  for counter, by in pairs(counted) do redis.call('HINCRBY', statsKey, counter, by) end
end

local function writeRenewals()
  if renewed[1] then redis.call('ZADD', activeKey, 'XX', unpack(renewed)) end
end
