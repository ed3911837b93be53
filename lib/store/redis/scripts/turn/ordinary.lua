-- ordinary: one round trip of a worker in a queue that uses nothing special: settle, renew, claim due jobs, and learn when to look again.
--   Where the turn meets more than that, it has written nothing and answers 'whole': then turn.lua is to take it. That is so
--   - where the queue has groups, preferred workers, suspects, a pause, blackouts or recurrences. One command asks for all of them, as each has
--     a key that is there as long as the use lasts: so no use is missed, whoever began it;
--   - where a lease has run out, a due job is too late by its rule or broken, or a job that is settled is to be cancelled, has another one queued
--     behind it, or does not lie in a common lane;
--   - where a set may be done by it, a member of one ends in another way than by completing, or the next step of a chain has a group or prefers a
--     worker;
--   - where more due lanes of others stand in front than one turn looks through;
--   - where the call has run before, or nobody has served the queue before;
--   - where what the queue keeps is to be trimmed. A turn that lists its session looks for that.
--   It answers 'unregistered', before any write, where it sees that `handles:<crew>` lacks names: the session notes them and sends the turn again.
--   A claim that has the names with it does not see that; a turn that lists its session does.
-- @numbered
-- @derived jobs, claims, failures, active, dead, usedIds, stats, levels, sleeping, served, fence, queued,
--   handles:<crew>, sleepers:<crew>
-- @without parts/of-groups.lua, parts/touch-groups.lua
-- @given clustered, settings.stealAfterMs
-- @arg me.session text: who takes the turn
-- @arg me.crew text: the sessions that take the same names
-- @arg me.crewSize count: how many names the crew handles
-- @arg me.names text: these names, each between line breaks; '' where they are long, and `handles:<crew>` is to be asked
-- @arg settings.leaseMs ms: how long a claimed job belongs to its session
-- @arg settings.maxSleepMs ms: the longest time until the session looks again
-- @arg me.limit count: what weight of jobs to claim at most, 0 = none, at most 1000
-- @arg me.maxBytes bytes: how much of envelopes to claim at most
-- @arg me.canHear flag: whether the session hears messages
-- @arg settings.keepIdsMs ms: how long a chosen id is remembered
-- @arg me.listing text: '' in most turns. A few times a lease a turn lists its session in `workers`: then a line with how many completed jobs are
--   kept, for how long (ms, 0 = for ever), how many dead ones, and for how long; then `me.options` of turn.lua, and behind that `me.host`.
--   The last turn of a session, and those after it, take it off: the first line is 'gone' then
-- @columns completed id, fence: as of turn.lua
-- @list others transition, id, fence, first, second: as of turn.lua
-- @list nextSteps settlement, id, delayMs, route, rest: as of turn.lua
-- @list renewals id, fence: as of turn.lua
-- @list reports id, fence, value: as of turn.lua
-- @list limits name, weight, free, size: as of turn.lua
-- @return bits text: as of turn.lua, and so are the others
-- @return lost text: see there, a line each: most of these lists are empty, and Redis makes a reply with lists in it at twice the cost
-- @return toCancel text: the same
-- @return late text: the same
-- @return lookAt text: see there
-- @return fence text: see there; behind it 'u' or nothing. Where the turn is to be taken whole, the answer is 'whole', the time, and 'uses' where
--   the queue uses more, so that its next turns are to be whole as well
-- @return isContended '1' | '': see there
-- @return ...claimed text[]: see there
-- @repeat answers 'whole', as the receipt is read by turn.lua.
-- @needs parts/clock.lua, parts/untag.lua, parts/envelope-tags.lua
local served, lastFence
do
  local receipt
  receipt, served, lastFence = unpack(redis.call('MGET', receiptKey, servedKey, fenceKey))
  -- @include parts/begun.lua
  -- Where nobody has served the queue before, somebody may have emptied Redis: then turn.lua has the crew's names noted again.
  if earlierAnswer or not served and me.listing == '' then return { 'whole', digits(now), '' } end
end
-- @include turn/uses.lua
if usesMore then return { 'whole', digits(now), 'uses' } end
-- The shared parts ask for these; in an ordinary turn they stay nil.
local grouping, recurring, yield, places, ownWorker, passedOver, keepCompleted, keepsCompleted

-- First everything is read: what has ended, and whose leases go on.
-- @include turn/settle/grace.lua
if isRecovering then return { 'whole', digits(now), '' } end
-- @include turn/settle/ended.lua
-- @include turn/settle/parse-lists.lua
-- @include turn/settle/completed.lua
if leftSets then
  -- @include turn/settle/sets-stay.lua
end
local others, nextSteps, renewals, reports = nextList(5), nextList(5), nextList(2), nextList(3)
-- @include turn/claim/handlers.lua
-- Those with the earliest due times: the due ones, and when the next one is due.
local earliest = redis.call('ZRANGE', levelsKey, 0, FIRST_HEADS - 1, 'WITHSCORES')
local firstDueAt = tonumber(earliest[2] or math.huge)

local fit, claimed, stopped, fence, unconfirmed, nextCursor = {}, {}, nil, 0, '', ''
-- @include turn/after/first-outlook.lua
local nextEvent, wakeOthers
-- Until when this session sleeps at most: see turn/after/outlook.lua.
local sleepAtMost = now + math.min(settings.maxSleepMs, settings.leaseMs / 3)
-- What the answer tells of single jobs, nil where nothing.
local told
-- Nothing is listed, renewed or reported, and nothing ended but by completing.
local onlyCompletes = me.listing == '' and not uncommon[1] and others.n == 0 and renewals.n == 0 and reports.n == 0
local oneLane, entering, heads
if onlyCompletes and nextSteps.n > 0 then
  -- @include turn/settle/steps-of-one-lane.lua
end
-- Where there are next steps, they all enter one lane. Then the turn may take the short way below.
local mayBeShort = onlyCompletes and (nextSteps.n == 0 or entering ~= nil)
if mayBeShort and me.limit > 0 and firstDueAt <= now then
  -- @include turn/claim/one-lane.lua
end
if mayBeShort and (oneLane or not entering and (me.limit == 0 or firstDueAt > now)) then
  -- Most turns: what has completed leaves, and what is due in one lane is claimed. The next steps of chains may enter that lane.
  if oneLane then
    -- @include turn/claim/next-fence.lua
    -- @include turn/claim/take-of-lane.lua
    outlook.limitAfter = me.limit - #oneLane.ids
    outlook.looksAgain = entering ~= nil
  end
  if endedIds[1] then
    -- @include turn/settle/write-completed.lua
  elseif not oneLane then
    -- The first write removes, here too.
    redis.call('ZREM', sleepersKey, me.session)
    outlook.isOffSleepers = true
  end
  if outlook.limitAfter > 0 then outlook.sleepUntil = math.floor(sleepAtMost) end
  function nextEvent() return firstDueAt end
else
  -- @include turn/ordinary-in-full.lua
end
local startedCount = #(oneLane and oneLane.ids or fit)
-- @include turn/after/finish.lua
