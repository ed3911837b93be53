-- What an ordinary turn does where it does more than remove jobs that have completed and claim those of one lane: it settles in other ways, renews, notes what jobs have
-- reported, lists its session or takes it off the list, and claims due jobs from common lanes. It ends the script with 'whole', before any write, where it meets more than
-- it knows, and with 'unregistered' where names of the crew are missing.
-- `fit`, `claimed`: the jobs that are handed out, and what the answer says of them. `outlook`, `nextEvent`: see turn/after/sleep.lua.
-- `wakeOthers`: sends the messages of this turn, last in the script.
-- @needs parts/clock.lua, turn/claims.lua, parts/wake/sleepers.lua, parts/wake/lane.lua, parts/lanes.lua, parts/enter.lua, parts/untag.lua, parts/envelope.lua, parts/claim.lua, parts/wake/handles.lua, parts/wake/publish.lua
-- @takes ARGV, completedFrom, settings, me, sleepAtMost, base, endedIds, bits, completedCount, uncommon, heads, others, nextSteps, renewals, reports, endJob, handlers, earliest, firstDueAt, fit, claimed, outlook, lastFence, grouping, recurring, ownWorker, places, passedOver, keepCompleted, keepsCompleted, levelsKey, jobsKey, claimsKey, failuresKey, activeKey, deadKey, usedIdsKey, queuedKey, statsKey, fenceKey, handlesKey, sleepersKey, sleepingKey
-- @changes told, stopped, fence, unconfirmed, nextEvent, wakeOthers
known.session, known.crew = me.session, me.crew
-- @include turn/settle/endings.lua
told = report
-- As many as a source reads at first (turn/claim/source.lua).
if heads then headsRead[base .. 'heads:' .. earliest[1]] = { firsts = heads, areAllFirsts = #heads < 2 * FIRST_HEADS } end
if me.listing ~= '' then
  if me.limit > 0 and redis.call('SCARD', handlesKey) ~= me.crewSize then return { 'unregistered', digits(now) } end
  if string.find(me.listing, 'gone\n', 1, true) == 1 then
    -- A session that leaves hears no messages any more.
    outlook.hears = false
  else
    -- @include turn/after/hand-on.lua
    if handsOn then return { 'whole', digits(now), handsOn } end
  end
end

do
  -- @include turn/settle/already-settled.lua
  for _, ended in ipairs(uncommon) do
    if (marksOf(ended.claim, ended.fence) or '') ~= '' then return { 'whole', digits(now), '' } end
  end
  local extended
  if uncommon[1] or others.n > 0 then
    local otherClaims = readClaims(others[2])
    for i = 1, others.n do
      local marks = marksOf(otherClaims[i], others[3][i])
      -- Of a job that prefers nobody, belongs to no group and is no suspect, nothing stands in the lane between priority and name.
      local isOrdinary = marks == '' and string.find(otherClaims[i], '^%S+ %S+ %S+ %S+ %S+ %d+::')
      local transition = others[1][i]
      local mayEnd = transition ~= 'retry' and transition ~= 'snooze' and transition ~= 'release' and transition ~= 'extend'
      local isOfSet = marks and mayEnd and string.find(otherClaims[i], '\t\31', 1, true)
      if marks and not isOrdinary or isOfSet then return { 'whole', digits(now), '' } end
    end
    -- No job is queued behind these.
    local function takePlace() end
    -- @include turn/settle/other-settlements.lua
  end
  if nextSteps.n > 0 then
    for i = 1, nextSteps.n do
      if leftSets or not string.find(nextSteps[4][i], '^%l?%d* ?%d+::') then return { 'whole', digits(now), '' } end
    end
    -- @include turn/settle/next-steps.lua
  end
  if extended or renewals.n > 0 then
    -- @include turn/settle/renew.lua
  end
  if reports.n > 0 then
    -- @include turn/settle/reports.lua
  end
end

-- Which jobs are claimed: the best ones, of the most urgent levels first.
-- @include turn/claim/handler-limits.lua
local picked, fullNames = {}, {}
if me.limit > 0 and firstDueAt <= now then
  local due = {}
  for i = 1, #earliest, 2 do
    if tonumber(earliest[i + 1]) <= now then due[#due + 1] = earliest[i] end
  end
  if #due == FIRST_HEADS then due = redis.call('ZRANGE', levelsKey, '-inf', digits(now), 'BYSCORE') end
  table.sort(due, function(a, b) return tonumber(a) < tonumber(b) end)
  local mayPass, stealsBy = math.huge, nil
  -- @include turn/claim/take.lua
  for _, priority in ipairs(due) do
    local source = openSource('c', priority, COMMON)
    local front = bestOf(source)
    while front and not stopped do
      -- Somebody has damaged the index.
      if not string.find(front.lane, '^%d+::') then return { 'whole', digits(now), '' } end
      take(source, front)
      front = bestOf(source)
    end
    -- What is behind so many lanes that nobody here runs, a cursor goes on to look for.
    if source.isCut then return { 'whole', digits(now), '' } end
    if stopped then break end
  end
  if seesUnhandled and redis.call('SCARD', handlesKey) ~= me.crewSize then return { 'unregistered', digits(now) } end
end
local handOut
if picked[1] then
  -- @include turn/claim/envelopes.lua
  local settled = #decided.settlements
  -- @include turn/claim/sift.lua
  -- A job that is too late, or broken, ends here. What the queue keeps of it, and drops for it, is for turn.lua.
  if #decided.settlements > settled then return { 'whole', digits(now), '' } end
  -- @include turn/claim/next-fence.lua
  -- @include turn/claim/lease.lua
end

-- When this session looks again, and whom it wakes.
local toWake = {}
for i = 1, #fit do outlook.limitAfter = outlook.limitAfter - fit[i].weight end
outlook.toWake = toWake
if outlook.limitAfter > 0 and not stopped then outlook.sleepUntil = math.floor(sleepAtMost) end
outlook.fills = fit[1] ~= nil and outlook.limitAfter <= 0
if stopped or outlook.fills or next(fullNames) then readOwnCrew() end
local writeFollowUps, completions
if decided.steps then
  local steps = decided.steps
  -- @include parts/follow-ups.lua
  decided.looksAgain = true
end
readLevels()

-- Then everything is written. Redis with a full memory finishes a script whose first write is a removal, so the queue drains. The first write is
-- - if jobs are claimed, no claim is rewritten besides, and no session listed: their removal from their lanes, in `closeLanes`;
-- - if nothing but completions is written: their removal from `active`, in write-jobs.lua;
-- - else this session's removal from the sleepers, even if it is not there.
local isClaiming, onlyRemovesAndClaims = true, me.listing == '' and not (decided.settlements[1] or decided.steps or decided.reported[1] or decided.confirmed[1])
if onlyRemovesAndClaims and fit[1] then
  closeLanes()
elseif not (onlyRemovesAndClaims and decided.endedIds[1]) then
  redis.call('ZREM', sleepersKey, me.session)
  outlook.isOffSleepers = true
end
-- Until this session is listed again, its crew may have sleepers.
if me.listing ~= '' and outlook.hears then redis.call('ZADD', sleepingKey, 'GT', digits(now + settings.leaseMs), me.crew) end
-- @include turn/after/write-jobs.lua
if claimsLast then handOut() end
if writeFollowUps then writeFollowUps() end
if not onlyRemovesAndClaims then closeLanes() end
if decided.remembered[1] or me.listing ~= '' then
  local added = #decided.remembered / 2
  -- @include turn/after/forget-ids.lua
end
writeUntagged()
if leftSets then
  -- @include turn/settle/count-completed.lua
end
if me.listing ~= '' then
  -- The first line says 'gone', or what the queue keeps where the session is listed.
  local presence, options, host = string.match(me.listing, '^([^\n]*)\n([^\n]*)\n(.*)$')
  -- @include turn/after/presence.lua
end
outlook.looksAgain = decided.returning[1] or decided.looksAgain
function nextEvent()
  -- Nothing has moved since the levels were read.
  local first = laneList[1] and earliestCommon(earliest, #earliest < 2 * FIRST_HEADS) or firstDueAt
  if first > now or me.limit == 0 then return first end
  local indexKey, ending = levelsKey, COMMON
  -- @include turn/after/behind-due.lua
  return earliestBehind
end

-- Messages, after all writes.
function wakeOthers()
  -- @include turn/after/wake-others.lua
end
