-- in-order: one round trip of a worker in a queue whose groups run in order (`'fifo'`) and which uses nothing else special: settle jobs that have
--   completed, claim due jobs of the groups whose turn it is, one of each, and learn when to look again. It leaves every key as
--   turn.lua would, with fewer commands: it makes none of the tables and functions that turn/groups, turn/claim/units.lua and parts/lanes.lua make for
--   any group, lane and limit.
--   Where the turn meets more than that, it has written nothing and answers 'whole': then turn.lua is to take it. That is so
--   - where the queue has settings or pauses of groups, preferred workers, suspects, a pause, blackouts or recurrences; where jobs without a group
--     are due, groups have jobs of several names, versions or priorities, or this session does not handle their name. Then the session takes whole turns for a while;
--   - where a lease has run out, a held group is to be freed by the clock, or the clock went back;
--   - where a settled job is not the holder of its group, is to be cancelled, or has another one queued behind it; where a set may be done;
--   - where a job that is to be claimed has been claimed before, is too late by its rule or broken, or its group is not as the turns say;
--   - where the call has run before, or nobody has served the queue before.
-- @numbered
-- @derived jobs, claims, failures, active, dead, stats, levels, sleeping, served, fence, handles:<crew>, sleepers:<crew>
-- @given clustered, settings.stealAfterMs
-- @arg me.session text: who takes the turn
-- @arg me.crew text: the sessions that take the same names
-- @arg settings.leaseMs ms: how long a claimed job belongs to its session
-- @arg settings.maxSleepMs ms: the longest time until the session looks again
-- @arg me.limit count: how many jobs to claim at most, at least one, and fewer than MOST_JOBS_OF_GROUPS
-- @arg me.maxBytes bytes: how much of envelopes to claim at most
-- @arg me.canHear flag: whether the session hears messages
-- @columns completed id, fence: as of turn.lua
-- @return bits text: as of ordinary.lua, and so are the others
-- @return lost text: see there
-- @return toCancel text: see there
-- @return late text: see there
-- @return lookAt text: see there
-- @return fence text: see there
-- @return isContended '1' | '': see there
-- @return ...claimed text[]: see there
-- @repeat answers 'whole', as the receipt is read by turn.lua.
-- @needs parts/clock.lua, parts/untag.lua, parts/envelope-tags.lua
local served, lastFence
do
  local receipt
  receipt, served, lastFence = unpack(redis.call('MGET', receiptKey, servedKey, fenceKey))
  -- @include parts/begun.lua
  -- Behind a tab stands what turns have looked at since the clock went back.
  if earlierAnswer or string.find(served or '\t', '\t', 1, true) then return { 'whole', digits(now), '' } end
end
do
  -- @include turn/uses-beside-groups.lua
  if usesBesideGroups then return { 'whole', digits(now), 'uses' } end
end
-- The shared parts ask for these.
local grouping, handlers, yield = { ended = {}, areSomeUnseen = false }, nil, nil
local stopped, fence, unconfirmed, nextCursor, claimed, told = nil, 0, '', '', {}, nil

-- First everything is read.
-- @include turn/settle/grace.lua
if isRecovering or grace.servedAt and grace.servedAt > now then return { 'whole', digits(now), '' } end
local listAt = completedFrom
-- @include turn/settle/ended.lua
-- @include turn/settle/completed.lua
if leftSets then
  -- @include turn/settle/sets-stay.lua
end
if uncommon[1] then return { 'whole', digits(now), '' } end
-- @include turn/in-order/due.lua
-- @include turn/in-order/pick.lua
-- @include turn/after/first-outlook.lua
outlook.limitAfter = me.limit - #picks
outlook.fills = picks[1] ~= nil and outlook.limitAfter <= 0
local wakeOthers
-- @include turn/in-order/wake.lua

-- Then everything is written. The first write removes: Redis with a full memory then lets the script finish, and the queue drains.
-- @include turn/in-order/write.lua
if outlook.limitAfter > 0 and not stopped then outlook.sleepUntil = math.floor(now + math.min(settings.maxSleepMs, settings.leaseMs / 3)) end
local function nextEvent()
  local indexKey, ending = base .. 'levels:' .. '@', ':' .. '@'
  -- @include turn/after/behind-due.lua
  return math.min(firstDueAt, nextFreeAt, earliestBehind)
end
local startedCount = #picks
-- @include turn/after/finish.lua
