-- ordinary: one round trip of a worker in a queue that uses nothing special: settle, renew, claim due jobs, and learn when to look again.
--   Where the turn meets more than that, it has written nothing and answers 'whole': then turn.lua is to take it. That is so
--   - where the queue has groups, preferred workers, suspects, a pause, blackouts or recurrences. One command asks for all of them, as each has
--     a key that is there as long as the use lasts: so no use is missed, whoever began it;
--   - where a lease has run out, a due job is too late by its rule or broken, a job that is settled is to be cancelled, has another one queued behind it, or does not lie in an ordinary
--     lane, or where more is due than one turn may look through;
--   - where the call has run before, or the queue was never served.
--   What time alone makes necessary (listing sessions, trimming what is kept, noting that a crew may sleep) is left to the turns that list a
--   session: its caller sends those whole, a few times a lease.
-- @numbered
-- @derived jobs, claims, failures, active, dead, usedIds, stats, levels, sleeping, served, fence, queued,
--   handles:<crew>, sleepers:<crew>
-- @given clustered, settings.stealAfterMs
-- @arg me.session text: who takes the turn
-- @arg me.crew text: the sessions that take the same names
-- @arg me.crewSize count: how many names the crew handles
-- @arg settings.leaseMs ms: how long a claimed job belongs to its session
-- @arg settings.maxSleepMs ms: the longest time until the session looks again
-- @arg me.limit count: what weight of jobs to claim at most, 0 = none, at most 1000
-- @arg me.maxBytes bytes: how much of envelopes to claim at most
-- @arg me.canHear flag: whether the session hears messages
-- @arg settings.keepIdsMs ms: how long a chosen id is remembered
-- @columns completed id, fence: as of turn.lua
-- @list others transition, id, fence, first, second: as of turn.lua
-- @list renewals id, fence: as of turn.lua
-- @list reports id, fence, value: as of turn.lua
-- @list limits name, weight, free, size: as of turn.lua
-- @return bits text: as of turn.lua, and so are the others
-- @return lost text[]: see there
-- @return toCancel text[]: see there
-- @return late text[]: see there
-- @return brokenJobs text[]: see there
-- @return lookAt text: see there
-- @return fence text: see there; behind it 'u' or nothing. Where the turn is to be taken whole, the answer is 'whole', the time, and 'uses' where
--   the queue uses more, so that its next turns are to be whole as well
-- @return isContended '1' | '': see there
-- @return ...claimed text[]: see there
-- @repeat answers 'whole', as the receipt is read by turn.lua.
-- @needs parts/clock.lua
local receipt, served, lastFence = unpack(redis.call('MGET', receiptKey, servedKey, fenceKey))
local hasRun
do
  -- @include parts/begun.lua
  hasRun = earlierAnswer
end
-- Where nobody has served the queue before, somebody may have emptied Redis: then the crew is to be listed again.
if hasRun or not served then return { 'whole', digits(now), '' } end
-- @include turn/uses.lua
if usesMore then return { 'whole', digits(now), 'uses' } end
-- @needs turn/claims.lua, parts/wake/sleepers.lua, parts/lanes.lua, parts/enter.lua, parts/untag.lua
known.session, known.crew = me.session, me.crew
-- What an ordinary turn has none of.
local grouping, recurring, yield, places, ownWorker, passedOver, keepCompleted

-- First everything is read: what has ended, and whose leases go on.
-- @include turn/settle/grace.lua
if isRecovering then return { 'whole', digits(now), '' } end
-- @include turn/settle/endings.lua
-- @include turn/settle/already-settled.lua
-- @include turn/settle/parse-lists.lua
-- @include turn/settle/completed.lua
for _, ended in ipairs(uncommon) do
  if (marksOf(ended.claim, ended.fence) or '') ~= '' then return { 'whole', digits(now), '' } end
end
local others, renewals, reports = nextList(5), nextList(2), nextList(3)
local extended
if uncommon[1] or others.n > 0 then
  local otherClaims = readClaims(others[2])
  for i = 1, others.n do
    local marks = marksOf(otherClaims[i], others[3][i])
    -- Of a job that prefers nobody, belongs to no group and is no suspect, nothing stands in the lane between priority and name.
    local isOrdinary = marks == '' and string.find(otherClaims[i], '^%S+ %S+ %S+ %S+ %S+ %d+::')
    if marks and not isOrdinary then return { 'whole', digits(now), '' } end
  end
  -- No job is queued behind these.
  local function takePlace() end
  -- @include turn/settle/other-settlements.lua
end
if extended or renewals.n > 0 then
  -- @include turn/settle/renew.lua
end
if reports.n > 0 then
  -- @include turn/settle/reports.lua
end

-- Which jobs are claimed: the best ones, of the most urgent levels first.
-- @include turn/claim/handlers.lua
-- @include turn/claim/handler-limits.lua
local picked, fit, claimed, stopped, fullNames = {}, {}, {}, nil, {}
-- So many levels are read at first, those with the earliest due times: the due ones, and when the next one is due.
local LEVELS_READ = 8
local earliest = redis.call('ZRANGE', levelsKey, 0, LEVELS_READ - 1, 'WITHSCORES')
local firstDueAt = tonumber(earliest[2] or math.huge)
if me.limit > 0 and firstDueAt <= now then
  local due = {}
  for i = 1, #earliest, 2 do
    if tonumber(earliest[i + 1]) <= now then due[#due + 1] = earliest[i] end
  end
  if #due == LEVELS_READ then due = redis.call('ZRANGE', levelsKey, '-inf', digits(now), 'BYSCORE') end
  table.sort(due, function(a, b) return tonumber(a) < tonumber(b) end)
  local mayPass, stealsBy = math.huge, nil
  -- @include turn/claim/take.lua
  for _, priority in ipairs(due) do
    local source = openSource('c', priority, COMMON)
    local front = bestOf(source)
    while front and not stopped do
      take(source, front)
      front = bestOf(source)
    end
    -- What is behind so many lanes that nobody here runs, a cursor goes on to look for.
    if source.isCut then return { 'whole', digits(now), '' } end
    if stopped then break end
  end
  if seesUnhandled and redis.call('SCARD', handlesKey) ~= me.crewSize then return { 'unregistered', digits(now) } end
end
local fence, unconfirmed, handOut = 0, '', nil
if picked[1] then
  -- @include turn/claim/envelopes.lua
  local settled = #decided.settlements
  -- @include turn/claim/sift.lua
  -- A job that is too late, or broken, ends here. What the queue keeps of it, and drops for it, is for turn.lua.
  if #decided.settlements > settled then return { 'whole', digits(now), '' } end
  -- The clock keeps fences growing where a failover has lost the counter, the counter where the clock went back.
  fence = math.max(tonumber(lastFence or 0) or 0, nowUs) + 1
  -- @include turn/claim/lease.lua
end

-- When this session looks again, and whom it wakes.
local limitAfter = me.limit
for i = 1, #fit do limitAfter = limitAfter - fit[i].weight end
local outlook = { limitAfter = limitAfter, stopsLooking = false, hears = me.canHear, sleepUntil = false, wasListed = false, isListed = false, looksOn = false, toWake = {} }
if limitAfter > 0 and not stopped then outlook.sleepUntil = math.floor(now + math.min(settings.maxSleepMs, settings.leaseMs / 3)) end
if stopped or next(fullNames) then readOwnCrew() end
readLevels()

-- Then everything is written. A removal comes first, even of nothing: Redis with a full memory then lets the script finish, and the queue
-- drains.
local isClaiming, isPlain, isUnlisted = true, not (decided.settlements[1] or decided.reported[1] or decided.confirmed[1]), false
if isPlain and fit[1] then
  closeLanes()
elseif not (isPlain and decided.endedIds[1]) then
  redis.call('ZREM', sleepersKey, me.session)
  isUnlisted = true
end
-- @include turn/after/write-jobs.lua
if claimsLast then handOut() end
if not isPlain then closeLanes() end
if decided.remembered[1] then
  local added = #decided.remembered / 2
  -- @include turn/after/forget-ids.lua
end
writeUntagged()
local nextCursor = ''
local function nextEvent()
  -- Nothing has moved since the levels were read.
  local first = laneList[1] and earliestCommon(earliest, #earliest < 2 * LEVELS_READ) or firstDueAt
  if first > now or me.limit == 0 then return first end
  local indexKey, ending = levelsKey, COMMON
  -- @include turn/after/behind-due.lua
  return earliestBehind
end
-- @include turn/after/sleep.lua
if not outlook.isListed and not isUnlisted then redis.call('ZREM', sleepersKey, me.session) end
local hasFilled = #fit >= FEWEST_JOBS and limitAfter <= 0
local lastToFill = hasFilled and me.session or grace.lastToFill
-- A silence is told by leases: the stamp need be no finer than a small part of one.
local others = (grace.postponedAt == 0 and '0 0' or digits(grace.recoverFrom) .. ' ' .. digits(grace.postponedAt)) .. ' ' .. lastToFill
if not grace.servedAt or math.abs(now - grace.servedAt) > settings.leaseMs / STAMPS_A_LEASE or others ~= grace.others then
  redis.call('SET', servedKey, digits(now) .. ' ' .. others)
end
-- Of an idle turn too: a copy of it that was held up on the way would claim jobs that nobody then runs.
local result = table.concat(report.bits) .. '-' .. digits(fence) .. ' ' .. digits(now + settings.leaseMs) .. ' '
-- @include parts/answer.lua

-- Messages come last, as they cannot be taken back.
-- @include turn/after/wake-others.lua
local isContended = grace.lastToFill ~= '' and grace.lastToFill ~= me.session
-- With µs: a session that took it for the whole millisecond would wake up to one later.
return { 'done', string.format('%.3f', nowUs / 1000), table.concat(report.bits), report.lost, report.toCancel, report.late, report.brokenJobs, digits(outlook.lookAt), digits(fence) .. unconfirmed, isContended and '1' or '', unpack(claimed) }
