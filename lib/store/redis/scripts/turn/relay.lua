-- relay: one round trip of a session that moves due jobs to a stream or a list of the caller's: recover jobs whose leases have run out,
--   move due jobs, and learn when to look again. A moved job is gone from the queue, counted as started and completed: there is no
--   lease, nothing to settle, and nothing that a crash leaves in between.
-- @numbered
-- @keys jobs, claims, failures, active, dead, completed, results, usedIds, stats, levels, sleeping, served, workers, gate, rate, yields,
--   queued, handles:<crew>, sleepers:<crew>, <target>
-- @given clustered
-- @arg me.session text: who takes the turn
-- @arg me.crew text: the sessions that take the same names
-- @arg me.crewSize count: how many names the crew handles
-- @arg settings.leaseMs ms: for how long a session that was seen counts as there
-- @arg settings.maxSleepMs ms: the longest time until the session looks again
-- @arg me.limit count: how many jobs to move at most, 0 = none, at most 1000
-- @arg me.maxBytes bytes: how much of envelopes to move at most
-- @arg me.cursor text: where to go on looking, '' = from the start
-- @arg me.canHear flag: whether the session hears messages
-- @arg me.standing 'stays' | 'goes': whether it goes on looking after this turn
-- @arg settings.keepIdsMs ms: how long a chosen id is remembered
-- @arg settings.keepCompletedCount count: how many completed jobs are kept
-- @arg settings.keepCompletedAgeMs ms: and for how long, 0 = for ever
-- @arg settings.keepDeadCount count: how many dead jobs are kept
-- @arg settings.keepDeadAgeMs ms: and for how long, 0 = for ever
-- @arg settings.maxCrashes count: how often a job's lease may run out before it is dead
-- @arg me.presence 'here' | 'gone' | '': whether to list the session in `workers`, to take it off, or neither
-- @arg me.host text: "<pid> <traits> <host>" of the session, '' where `presence` is; where its entry in `workers` has another text now, a line
--   break and that text
-- @arg me.options text: where `presence` is 'here', the digest and the JSON of its options: "<digest> <options>"
-- @arg settings.msPerLevel ms: in what time a waiting job grows more urgent by one level, 0 = never
-- @given settings.stealAfterMs
-- @arg settings.globalConcurrency count: how many jobs may run at once over all processes, 0 = any; moved ones do not count
-- @arg settings.rateMax count: how many may start over all processes, 0 = any
-- @arg settings.rateWindowMs ms: within how long
-- @arg settings.groupsRule text: what holds for each group (see group/state.lua); a relay honours rates
-- @arg targetType 'stream' | 'list': what the target is
-- @arg maxLength count: how many entries a stream is to keep, about, 0 = any
-- @given settings.keepEnded
-- @return recovered text[]: as of turn.lua, and so are the others
-- @return late text[]: see there
-- @return brokenJobs text[]: see there
-- @return deadDropped text[]: see there
-- @return lookAt text: when to look again, epoch ms, 0 = when there is capacity. Where the target is of another type,
--   nothing has moved, and the answer is 'refused', the time and the type
-- @return cursor text: where to go on looking
-- @return skippedOccurrences text[]: as of turn.lua
-- @return tendAt text: see there
-- @return toTend text[]: see there
-- @return completions text[]: see there
-- @repeat jobs that were moved are not moved again, and nothing is told.
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), {}, {}, {}, {}, digits(now), '', {}, '-', {}, {} } end
if me.limit > 0 and redis.call('SCARD', handlesKey) ~= me.crewSize then return { 'unregistered', digits(now) } end
if me.limit > 0 then
  local found = redis.call('TYPE', targetKey).ok
  if found ~= 'none' and found ~= targetType then
    -- This relay does not look before somebody has mended the key: others of its crew must not count on it.
    redis.call('ZREM', sleepersKey, me.session)
    return { 'refused', digits(now), found }
  end
end
-- @needs parts/claim.lua, parts/envelope-tags.lua, turn/claims.lua, parts/wake/sleepers.lua, parts/enter.lua, parts/route.lua, parts/tag.lua, parts/untag.lua
known.session, known.crew = me.session, me.crew

-- First everything is read, so that a script that cannot go on leaves nothing half done.
--
-- What this turn knows of groups, as in turn.lua.
local grouping
if redis.call('EXISTS', base .. 'groups', base .. 'runningOfGroups', base .. 'held') > 0 then
  -- @include turn/groups/begin.lua
end
local isClaiming = false

-- Whose leases have run out.
local served = redis.call('GET', servedKey)
-- @include turn/settle/grace.lua
-- @include turn/settle/ended.lua
-- @include turn/settle/endings.lua
local takePlace
if isRecovering then
  -- @include turn/settle/already-settled.lua
  -- @include turn/settle/takeover.lua
  -- @include turn/settle/recover.lua
end
local picked, fit = {}, {}
if grouping then
  -- @include turn/groups/groups.lua
end

-- How much may be moved. A relay runs nothing: so it has no handlers, moves suspects like any job, and needs no place under
-- `globalConcurrency`.
local handlers
-- @include turn/claim/handler-limits.lua
-- @include turn/gates/open.lua
-- @include turn/gates/concurrency.lua
-- @include turn/gates/rate.lua
-- @include turn/gates/pause.lua
-- @include turn/gates/blackout.lua

-- Which jobs are moved: the best ones, less those that do not fit into one script, less those that come too late.
local stopped, nextCursor, fullNames, passedOver = nil, '', {}, nil
local recurring
local suspect, wish, yield, takesSuspects = '', '', nil, true
-- @include turn/claim/affinity.lua
if me.limit > 0 and opening.mayPass > 0 then
  -- @include turn/claim/pick.lua
end
local unconfirmed
if picked[1] then
  -- @include turn/claim/envelopes.lua
  -- @include turn/relay/read.lua
  if gate.recurrencesAt then
    -- Defines `recurring`. A function, as its locals would leave too few to the rest.
    local function defineRecurring()
      local counted = decided.counted
      -- @include recur/judge.lua
    end
    defineRecurring()
  end
  -- @include turn/claim/sift.lua
  -- A job that is moved holds its group no longer.
  for i = 1, grouping and #fit or 0 do grouping.endHold(fit[i].id, fit[i].front.lane, true) end
end
-- @include turn/after/outlook.lua
-- @include turn/after/find-lost.lua
for _, job in ipairs(fit) do
  local set = string.match(tagsOf(job.envelope), '\t(\31[^\t]*)')
  if set then untagJob(job.id, set, 'completed') end
end
-- @include turn/settle/leave-sets.lua
local writeFollowUps, completions
if leftSets or decided.steps then
  local steps = decided.steps
  -- @include parts/follow-ups.lua
  decided.looksAgain = true
end

-- Then everything is written. Jobs move before all other writes about jobs: where Redis refuses that, for want of a permission, nothing
-- has moved.
local function handOut()
  -- @include turn/relay/move.lua
end
-- @include turn/after/write.lua
redis.call('SET', servedKey, digits(now) .. ' ' .. digits(grace.recoverFrom) .. ' ' .. digits(grace.postponedAt) .. ' ' .. grace.lastToFill .. (grouping and grouping.lookedUpTo or ''))
-- Of an idle turn too: a copy of it that was held up on the way would move jobs once more.
local result = ''
-- @include parts/answer.lua

-- Messages come last, as they cannot be taken back.
-- @include turn/after/wake-others.lua
-- With µs: a session that took it for the whole millisecond would wake up to one later.
return { 'done', nowWithUs, report.recovered, report.late, report.brokenJobs, report.deadDropped, digits(outlook.lookAt), nextCursor, recurring and recurring.skippedOccurrences or {}, gate and gate.tendAt and digits(gate.tendAt) or gate and '' or '-', recurring and recurring.toTend or {}, completions or {} }
