-- Settlements and renewals: both only count where the caller's fence is the one in the claim record. Where the job is to be
-- cancelled, whatever its holder says ends it as cancelled; bit 2 says so. Where another job is queued behind it, that one takes
-- its place at every end; bit 3 says so.
-- Transitions, with their two arguments:
--   complete  flags ('r': the caller chose the id, remember it)   result to keep
--   retry     delay (ms)                                          failure, one line
--   dead      flags ('n': this attempt never began; 'f': it threw; 'r': the caller chose the id, remember it once the job is
--             pushed out of the dead)                             failure, one line, with the reason
--   snooze    due (> 0: at, epoch ms; <= 0: minus the delay in ms)  ''          (goes back, uses no attempt)
--   discard   flags ('r' as above)                                ''
--   release   ''                                                  ''          (goes back, uses no attempt)
--   cancel    ''                                                  ''
--   extend    how long from now its lease is to hold (ms)         ''          (stays with its holder)
-- Where the next list begins: with its length, then so many fields for each item.
local cursor = 30
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
local bits, settlements, gone, renewed = {}, {}, {}, {}
local lost, toCancel = {}, {}
-- Two for each unconfirmed job that is renewed here, which shows that its claim has arrived: id, record without the mark.
local confirmed = {}

-- True if this turn already settles the job; a renewal of it in the same turn is then ignored. Seldom asked.
local left, noted = {}, 0
-- Jobs that take the place of runs; nil in the common turn, in which none can. `over`: ids whose entry in `queued` is to go;
-- `placed`: those of them whose queued job takes the place of the run.
local takeovers
local function leaves(id)
  for i = noted + 1, #gone do left[gone[i]] = true end
  noted = #gone
  return left[id]
end

local function leave(id, tags)
  gone[#gone + 1] = id
  if tags ~= '' then untagJob(id, tags) end
end

do
  -- The common ends: all ids, then their fences, '' for the same as the one before.
  local plainCount = tonumber(ARGV[cursor])
  local records = {}
  -- Those whose records have marks, or another fence.
  local odd = {}
  if plainCount > 0 then
    local fencesFrom = cursor + plainCount
    records = redis.call('HMGET', claimsKey, unpack(ARGV, cursor + 1, fencesFrom))
    local fence, last, tags
    for i = 1, plainCount do
      local id, record = ARGV[cursor + i], records[i]
      local given = ARGV[fencesFrom + i]
      -- Jobs of one burst have the same record, which has been looked at then.
      if given ~= '' or record ~= last then
        if given ~= '' then fence = given end
        last, tags = record, isHeld(record, fence) and tagsOfRecord(record)
      end
      if tags then
        bits[i] = '1'
        leave(id, tags)
      else
        odd[#odd + 1] = { place = i, id = id, record = record, fence = fence }
      end
    end
    cursor = fencesFrom + plainCount
  end
  cursor = cursor + 1


  local others, renewals = nextList(5), nextList(2)
  -- A turn of a drain has none of these, and makes no functions for them: that costs more than all it does besides.
  if odd[1] or others.n > 0 or renewals.n > 0 or isRecovering then
    -- @include parts/queued.lua
    takeovers = { over = {}, placed = {} }
    local function withoutMark(record, fence, marks, mark)
      return fence .. string.gsub(marks, mark, '') .. string.sub(record, #fence + #marks + 1)
    end

    -- What is no finite number would stop the script in the middle of its writes; at once is the safe one.
    local function finite(text)
      local number = tonumber(text)
      return number and number == number and math.abs(number) < math.huge and number or 0
    end

    local function settle(s)
      mine[s.id], left[s.id] = true, true
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

    -- Puts the queued job, if there is one, in the place of this run. `how` the run ended: its transition or, for `dead`, its flags.
    function takeovers.takePlace(id, record, how, crashed)
      if not hasMark(record.marks, 'q') then return false end
      -- A run that has ended leaves the queue, and the queued job enters it. A run that would have come back, or be dead, is replaced instead.
      local COUNTED = {
        complete = { 'completed', 'scheduled' }, discard = { 'discarded', 'scheduled' }, cancel = { 'cancelled', 'scheduled' },
        snooze = { 'snoozed' }, retry = { 'failed' }, f = { 'failed' }, fr = { 'failed' },
      }
      takeovers.over[#takeovers.over + 1] = id
      local queued = queuedJobs.read(id)
      if not queued then return false end
      mine[id], left[id] = true, true
      untagJob(id, queuedJobs.without(record.tags, queued.tags))
      queued.crashes = record.crashes + (crashed and 1 or 0)
      queued.lane = laneFor(queued.lane, queued.crashes)
      openLane(queued.lane)
      readWakers(nameOf(queued.lane), group, worker)
      settlements[#settlements + 1] = { transition = 'takePlace', id = id, queued = queued, counted = COUNTED[how] or {} }
      return true
    end

    local function cancelHeld(id, record)
      -- Once, whatever else is said of it.
      if leaves(id) then return '2' end
      local r = parseRecord(record)
      if r and takeovers.takePlace(id, r, 'cancel') then return '2' end
      settle({ transition = 'cancel', id = id, first = '', second = '', record = { tags = tagsOfRecord(record) } })
      return '2'
    end

    -- A common end whose record has marks, or another fence: `marks` is nil then.
    local function endMarked(id, record, marks)
      if not marks then return '0' end
      if hasMark(marks, 'c') then return cancelHeld(id, record) end
      local r = parseRecord(record)
      if r and takeovers.takePlace(id, r, 'complete') then return '3' end
      leave(id, tagsOfRecord(record))
      return '1'
    end

    local function renew(id, ms)
      mine[id] = true
      renewed[#renewed + 1] = digits(now + ms)
      renewed[#renewed + 1] = id
    end

    for _, ended in ipairs(odd) do bits[ended.place] = endMarked(ended.id, ended.record, marksOf(ended.record, ended.fence)) end

    records = readRecords(others[2])
    local extended = {}
    for i = 1, others.n do
      local id, fence = others[2][i], others[3][i]
      local record = marksOf(records[i], fence) and parseRecord(records[i])
      bits[plainCount + i] = '0'
      if record and hasMark(record.marks, 'c') then
        bits[plainCount + i] = cancelHeld(id, records[i])
      elseif record and others[1][i] == 'extend' then
        bits[plainCount + i] = '1'
        extended[#extended + 1] = { id = id, leaseMs = finite(others[4][i]) }
      elseif record and takeovers.takePlace(id, record, others[1][i] == 'dead' and others[4][i] or others[1][i]) then
        bits[plainCount + i] = '3'
      elseif record then
        bits[plainCount + i] = '1'
        settle({ transition = others[1][i], id = id, first = others[4][i], second = others[5][i], record = record })
      end
    end

    for _, e in ipairs(extended) do
      if not leaves(e.id) then renew(e.id, e.leaseMs) end
    end

    records = readRecords(renewals[1])
    for i = 1, renewals.n do
      local id = renewals[1][i]
      local marks = marksOf(records[i], renewals[2][i])
      if hasMark(marks, 'c') then toCancel[#toCancel + 1] = id end
      if hasMark(marks, 'u') then
        confirmed[#confirmed + 1] = id
        confirmed[#confirmed + 1] = withoutMark(records[i], renewals[2][i], marks, 'u')
      end
      if marks then
        renew(id, leaseMs)
      else
        lost[#lost + 1] = id
      end
    end
  end
end

local function noteFailure(settlement)
  -- How many failed attempts are kept with a job.
  local FAILURES_KEPT = 20
  local line = digits(now) .. ' ' .. settlement.record.attempt .. ' ' .. settlement.second
  local failures = settlement.failures and settlement.failures .. '\n' .. line or line
  local _, breaks = string.gsub(failures, '\n', '')
  for _ = FAILURES_KEPT, breaks do failures = string.gsub(failures, '^[^\n]*\n', '', 1) end
  redis.call('HSET', failuresKey, settlement.id, failures)
end

local counted, died, usedIds = {}, 0, {}
-- Whether there is more to fetch at once: a job that this turn put back is due already, or one it picked was turned away.
local lookAgain = false
local function count(counter, by)
  counted[counter] = (counted[counter] or 0) + (by or 1)
end

local function rememberId(s)
  if not string.find(s.first, 'r', 1, true) or keepIdsMs == 0 then return end
  usedIds[#usedIds + 1] = digits(now + keepIdsMs)
  usedIds[#usedIds + 1] = s.id
end
