-- Decides of picked occurrences whether they begin. Only of those that are armed: what was made beside the rule, or has begun before, is
-- an ordinary job. Made only where the queue has something to tend, so that other queues pay nothing.
-- `recurring`: `of`, job -> entry of its recurrence (see recur/next.lua) with `at`, its instant; `judge`, which answers 'begin', 'wait',
-- 'missed' or 'overlap'; `begin` and `skip`, which note that an occurrence begins, or ends before it has begun; `skippedOccurrences`, three for
-- each that ends here: id, name, reason; `resolve` and `write`, the ends of the read and of the write phase.
-- @needs parts/clock.lua, parts/envelope.lua, parts/enter.lua, parts/lanes.lua, recur/arm.lua, recur/next.lua, recur/record.lua
-- @takes decided, counted, base, jobsKey, deadKey, picked, envelopes, fullNames, giveBack
-- @changes recurring, stopped
local endedIds, settlements = decided.endedIds, decided.settlements
-- How soon one that waits for instants to be known is looked at again.
local UNKNOWN_LOOK_MS = 100
-- So many armed ones a turn: each costs several times as much as another job, most of all after an outage, when the lists of instants are
-- long.
local MOST_JUDGED = 50
local missedEnvelopes, waiting, toTend = {}, {}, {}
recurring = { of = {}, skippedOccurrences = {} }

local function count(counter, by)
  if by > 0 then counted[counter] = (counted[counter] or 0) + by end
end

-- The rest is left to the next turn.
local function cutFrom(index)
  for i = #picked, index, -1 do
    giveBack(picked[i])
    picked[i] = nil
  end
  stopped = 'size'
end

-- A state begins with the instant that is armed; only of one that is to be judged is the rest looked at.
local function readEntries()
  local states, armed, armedIds = {}, {}, {}
  for i = 1, #picked do
    local id, at = string.match(picked[i].id, '^(.*)@(%d+)$')
    if id and (not envelopes[i] or hasFlag(envelopes[i], 'o')) then
      -- A backfill adds many of one recurrence.
      states[id] = states[id] or redis.call('HGET', base .. 'timetable', id) or ''
      local state = armedIn(states[id]) == at and parseState(states[id])
      if state then
        if #armed == MOST_JUDGED then
          cutFrom(i)
          break
        end
        armed[#armed + 1] = { id = id, at = tonumber(at), job = picked[i], state = state }
        armedIds[#armed] = id
      end
    end
  end
  if not armed[1] then return end
  for i, text in ipairs(redis.call('HMGET', base .. 'recurrences', unpack(armedIds))) do
    local entry, rule = armed[i], text and parseRecord(text)
    if rule then
      entry.rule = rule
      recurring.of[entry.job] = entry
    end
  end
end
readEntries()

-- Jobs that end in this turn: id -> true. The turn goes on to turn jobs away while it judges, so what has come since is added.
local ended, notedIds, notedSettlements = {}, 0, 0
local function endsHere(id)
  for i = notedIds + 1, #endedIds do ended[endedIds[i]] = true end
  for i = notedSettlements + 1, #settlements do
    local how = settlements[i].transition
    if how == 'complete' or how == 'discard' or how == 'cancel' or how == 'dead' then ended[settlements[i].id] = true end
  end
  notedIds, notedSettlements = #endedIds, #settlements
  return ended[id]
end

-- Whether the latest one of the rule that began has not ended, and does not end in this turn.
local function previousLives(entry)
  if entry.state.began == 0 then return false end
  local id = entry.id .. '@' .. digits(entry.state.began)
  return not endsHere(id) and redis.call('HEXISTS', jobsKey, id) == 1 and not redis.call('ZSCORE', deadKey, id)
end

function recurring.skip(entry)
  advanceTo(entry, entry.at)
  armNext(entry)
end

function recurring.begin(entry)
  local state = entry.state
  advanceTo(entry, entry.at)
  state.began, state.count = entry.at, state.count + 1
  armNext(entry)
end

-- Ends this one and all before `target`, whose job is made instead: nil where the rule has no more.
local function skipTo(entry, target, due)
  local last = target and latestBetween(entry, entry.at, target) or lastUpTo(entry, entry.at, math.huge)
  local skipped = countBetween(entry, entry.at, target or last + math.max(1, entry.rule.everyMs))
  -- They were never jobs, but count as if they had been.
  count('scheduled', skipped)
  count('discarded', skipped)
  advanceTo(entry, last)
  if not due then return armNext(entry) end
  noteChanged(entry)
  armAt(entry, target, due)
end

-- Of the missed ones from this one to the latest, the first that is made up for; nil for none. It is looked for by its age, as a walk from one
-- instant to the next takes long after an outage.
local function firstMadeUp(entry, latest)
  local rule, at = entry.rule, entry.at
  if rule.onMissed == 's' then return nil end
  local oldest = now - (rule.missedWithin or MADE_UP_WITHIN_MS)
  if rule.onMissed == 'o' then
    oldest = math.max(oldest, latest)
  elseif rule.everyMs > 0 then
    -- A list never holds too many: whoever reckons it leaves those out.
    oldest = math.max(oldest, latest - (MOST_MADE_UP - 1) * rule.everyMs)
  end
  local first = at >= oldest and at or nextAfter(entry, oldest - 1)
  if first and first <= latest then return first end
  if rule.missedWithin then return nil end
  -- Until the next one is due, the latest may be older than a day; those before it may not, as the next of each has come.
  local following = nextAfter(entry, latest)
  return following and now <= following and latest or nil
end

local function keepWaiting(entry, forMs)
  waiting[#waiting + 1] = entry
  entry.lookAt = now + forMs
  return 'wait'
end

local function waitForInstants(entry)
  toTend[#toTend + 1] = entry.id
  return keepWaiting(entry, UNKNOWN_LOOK_MS)
end

-- 'begin' where it is not missed, or is to be made up for.
local function judgeMissed(entry, job, following)
  local at, isBlocked = entry.at, entry.state.blockedDue > 0
  -- One that somebody has moved is missed by its own due time, and never before its instant. Who waits for the end of the previous one is not
  -- missed by that; but where all are to run it is made up for once the next one is due, as the next one would take its place otherwise.
  local isMissed = at <= now and (isDueAfter(entry, following) or not isBlocked and now >= job.due + MISSED_AFTER_MS)
  if isBlocked and entry.rule.onMissed ~= 'a' or not isMissed then return 'begin' end
  local latest, isLatest = lastUpTo(entry, at, now)
  if not isLatest then
    if isShort(entry) then return waitForInstants(entry) end
    -- Of very many, those that are known are judged one by one.
    latest = at
    local mark = string.find(entry.state.list, '!', 1, true)
    local first = mark and tonumber(string.match(entry.state.list, '(%d+)', mark))
    if first and first > at then
      skipTo(entry, first, first)
      return 'missed'
    end
  end
  local next = nextAfter(entry, latest)
  -- Where the latest is not due yet, the one before it is not missed either.
  while latest > at and not isMissedAt(entry, latest, next) do
    latest, next = latestBetween(entry, at, latest), latest
  end
  local first = firstMadeUp(entry, latest)
  if first == at then
    entry.isMissed = true
    return 'begin'
  end
  if first then skipTo(entry, first, first) else skipTo(entry, next) end
  return 'missed'
end

-- 'begin' where the rule lets it, or nothing that has begun by the rule is left.
local function judgeOverlap(entry, job)
  local at = entry.at
  if entry.rule.overlap == 'a' or not previousLives(entry) then return 'begin' end
  if entry.rule.overlap == 's' then
    recurring.skip(entry)
    return 'overlap'
  end
  -- At most one waits, the latest; the first one where all are to run, each after the end of the one before.
  local latest = entry.rule.onMissed == 'a' and at or lastUpTo(entry, at, now)
  if latest > at and jittered(entry, latest, nextAfter(entry, latest)) > now then
    latest = latestBetween(entry, at, latest)
  end
  if latest > at then
    skipTo(entry, latest, now + BLOCKED_LOOK_MS)
    entry.state.blockedDue = jittered(entry, latest, nextAfter(entry, latest))
    return 'overlap'
  end
  entry.state.blockedDue = entry.isMissed and at or job.due
  noteChanged(entry)
  return keepWaiting(entry, BLOCKED_LOOK_MS)
end

-- `job`: its lane is open.
function recurring.judge(entry, job)
  local following = nextAfter(entry, entry.at)
  -- The due time of a blocked one in its lane is that of the next look.
  if entry.state.blockedDue > 0 then job.due, job.dueText = entry.state.blockedDue, digits(entry.state.blockedDue) end
  -- The jitter of the one that follows ends before the next but one.
  local isUnknown = following == false or following and now >= following and entry.rule.jitterMs > 0 and nextAfter(entry, following) == false
  local verdict = isUnknown and waitForInstants(entry) or judgeMissed(entry, job, following)
  if verdict == 'begin' then verdict = judgeOverlap(entry, job) end
  if entry.isMissed and (verdict == 'begin' or verdict == 'wait') then
    local marked, replaced = string.gsub(job.envelope, '^([^\n]*\n%d+ co)([^m])', '%1m%2', 1)
    job.envelope = marked
    -- One that waits was perhaps marked at an earlier look.
    if replaced > 0 then missedEnvelopes[#missedEnvelopes + 1] = entry.job end
    job.due, job.dueText = entry.at, digits(entry.at)
  end
  if verdict == 'wait' then
    job.isWaiting = true
    addToLane(enterLane(job.front.lane), job.id, entry.lookAt)
    giveBack(job)
    -- It stood before others that are due.
    if stopped or fullNames[job.front.name] then decided.looksAgain = true end
  elseif verdict ~= 'begin' then
    for _, field in ipairs({ job.id, job.front.name, verdict }) do recurring.skippedOccurrences[#recurring.skippedOccurrences + 1] = field end
  end
  return verdict
end

function recurring.resolve()
  if resolveArmed() then decided.looksAgain = true end
  for _, id in ipairs(shortIds) do toTend[#toTend + 1] = id end
  recurring.toTend = toTend
end

-- `keeps`: jobs that were handed out stay in `jobs`.
function recurring.write(keeps)
  writeArmed()
  local envelopesToWrite = {}
  for _, job in ipairs(missedEnvelopes) do
    if keeps or job.isWaiting then
      envelopesToWrite[#envelopesToWrite + 1] = job.id
      envelopesToWrite[#envelopesToWrite + 1] = job.envelope
    end
  end
  if envelopesToWrite[1] then redis.call('HSET', jobsKey, unpack(envelopesToWrite)) end
end
