-- turn: one round trip of a session that runs jobs, a worker or a pull: settle, renew, recover jobs whose leases have run out, claim due
--   jobs, and learn when to look again.
-- @numbered
-- @keys jobs, claims, failures, active, dead, completed, results, usedIds, stats, levels, sleeping, served, fence, workers, gate, rate,
--   reservations, yields, queued, handles:<crew>, sleepers:<crew>
-- @given clustered
-- @arg me.session text: who takes the turn
-- @arg me.crew text: the sessions that take the same names
-- @arg me.crewSize count: how many names the crew handles
-- @arg settings.leaseMs ms: how long a claimed job belongs to its session
-- @arg settings.maxSleepMs ms: the longest time until the session looks again
-- @arg me.limit count: what weight of jobs to claim at most, 0 = none, at most 1000
-- @arg me.maxBytes bytes: how much of envelopes to claim at most
-- @arg me.cursor text: where to go on looking, '' = from the start
-- @arg me.canHear flag: whether the session hears messages
-- @arg me.standing 'stays' | 'until-claimed' | 'goes': whether it goes on looking after this turn
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
-- @arg settings.globalConcurrency count: how many jobs may run at once over all processes, 0 = any
-- @arg settings.rateMax count: how many may start over all processes, 0 = any
-- @arg settings.rateWindowMs ms: within how long
-- @arg settings.groupsRule text: what holds for each group (see group/state.lua)
-- @arg wish text: what this turn wishes of suspects, jobs that run alone (see turn/claim/suspects.lua)
-- @given settings.keepEnded
-- @columns completed id, fence: jobs that completed and leave nothing behind; the fence is '' for that of the one before
-- @list others transition, id, fence, first, second: how other jobs ended; two fields depend on it (see turn/settle/other-settlements.lua)
-- @list nextSteps settlement, id, delayMs, route, rest: the next steps of chains whose jobs have completed (see turn/settle/next-steps.lua)
-- @list renewals id, fence: leases to renew
-- @list reports id, fence, value: the progress of running jobs, as JSON
-- @list limits name, weight, free, size: names that have a weight or a limit of their own, or get several jobs in one call (see
--   turn/claim/handlers.lua)
-- @return bits text: a digit for each settlement in order, '0' where its lease was lost (see turn/settle/other-settlements.lua)
-- @return lost text[]: ids of leases that are lost
-- @return toCancel text[]: ids of renewed jobs that are to be cancelled
-- @return recovered text[]: five for each job whose lease had run out: id, name, attempt, 'waiting' | 'cancelled' | the reason it is dead for,
--   the worker that held it ('' = not known)
-- @return late text[]: five for each late job: id, name, attempts begun, how late (ms), the letter of its late rule
-- @return brokenJobs text[]: four for each job that died because its envelope is missing or unreadable: id, name, attempts begun, the reason
-- @return deadDropped text[]: two for each dead job that was deleted to keep to `keepDead`: id, name
-- @return lookAt text: when to look again, epoch ms, 0 = when there is capacity
-- @return fence text: of the claimed jobs; behind it 'u' where none of them may begin before its lease has been renewed, 'o' where their
--   leases are over and they are to be released
-- @return cursor text: where to go on looking
-- @return isContended '1' | '': whether another session was the last to fill a limit of FEWEST_JOBS or more: it claims as fast, and keeps Redis busy
--   between the turns of this one
-- @return suspect 'reserved' | 'taken' | 'waits' | '': this process is kept for a suspect; the claimed job is one; there are suspects, which
--   this turn could not take because its process holds something
-- @return skippedOccurrences text[]: three for each occurrence that the policy of its recurrence leaves out: id, name, 'missed' | 'overlap'
-- @return tendAt text: when the recurrences of the queue are to be tended, epoch ms, '' = it has none, '-' = this turn did not look
-- @return toTend text[]: ids of recurrences that are to be tended at once
-- @return uses 'more' | 'groups' | '' | '-': whether the queue uses more than an ordinary turn knows (see turn/uses.lua), or has more to trim;
--   'groups' = nothing but groups without settings and pauses of their own; '-' = this turn did not ask
-- @return completions text[]: three for each completion job of a set that was done by this turn: id, name, when it is due
-- @return ...claimed text[]: three for each claimed job: id; due and, unless it is its first claim, attempt and crashes; envelope
-- @repeat settlements are answered from the receipt, and the jobs claimed then are handed out again, without envelopes where their leases
--   are over by then. Of renewals nothing is told, and the jobs that were recovered, late, broken or deleted are not told again.
-- @needs parts/clock.lua, parts/claim.lua, parts/envelope-tags.lua, turn/claims.lua
do
  -- @include parts/begin.lua
  if earlierAnswer then
    -- @include turn/answer-again.lua
  end
end
if me.limit > 0 and redis.call('SCARD', handlesKey) ~= me.crewSize then return { 'unregistered', digits(now) } end
-- @needs parts/wake/sleepers.lua, parts/route.lua, parts/tag.lua, parts/untag.lua
known.session, known.crew = me.session, me.crew

-- First everything is read, so that a script that cannot go on leaves nothing half done.
--
-- What this turn knows of groups (see turn/groups/begin.lua). A queue without groups pays this one question.
local grouping
if redis.call('EXISTS', base .. 'groups', base .. 'runningOfGroups', base .. 'held') > 0 then
  -- @include turn/groups/begin.lua
end
local isClaiming = true
local picked, fit, claimed = {}, {}, {}

-- What has ended, whose leases go on, and whose have run out.
local served = redis.call('GET', servedKey)
-- @include turn/settle/grace.lua
-- @include turn/settle/ended.lua
-- @include turn/settle/endings.lua
-- @include turn/settle/read-settlements.lua
if grouping then
  -- @include turn/groups/groups.lua
end

-- How much may be claimed: by this session, and over all processes.
-- @include turn/claim/handler-limits.lua
-- @include turn/gates/open.lua
-- @include turn/gates/concurrency.lua
-- @include turn/gates/rate.lua
-- @include turn/gates/pause.lua
-- @include turn/gates/blackout.lua

-- Which jobs are claimed. `picked`: a suspect alone, or the best jobs, less those whose places are left to better jobs of others, and less those
-- whose envelopes do not fit into one reply. `fit`: those of them that are handed out. `claimed`: what the answer says of each of these.
local stopped, nextCursor, fullNames, yield = nil, '', {}, nil
local recurring
-- @include turn/claim/affinity.lua
-- @include turn/claim/suspects.lua
do
  local takesSuspects, passedOver = false, settings.globalConcurrency > 0 and {} or nil
  if me.limit > 0 and opening.mayPass > 0 and suspect == '' then
    -- @include turn/claim/pick.lua
  end
  if places and (suspect ~= '' or (picked[1] and #picked >= places.left)) then
    -- @include turn/claim/yield.lua
  end
end
local fence, unconfirmed, handOut = 0, '', nil
if picked[1] then
  -- @include turn/claim/envelopes.lua
  if gate.recurrencesAt then
    -- Defines `recurring`. A function, as its locals would leave too few to the rest.
    local function defineRecurring()
      local counted = decided.counted
      -- @include recur/judge.lua
    end
    defineRecurring()
  end
  -- @include turn/claim/sift.lua
  local lastFence = redis.call('GET', fenceKey)
  -- @include turn/claim/next-fence.lua
  -- @include turn/claim/lease.lua
end
if places then places.left = places.left - #fit end
-- @include turn/after/outlook.lua
-- @include turn/after/find-lost.lua
-- @include turn/settle/leave-sets.lua
local writeFollowUps, completions
if leftSets or decided.steps then
  local steps = decided.steps
  -- @include parts/follow-ups.lua
  decided.looksAgain = true
end

-- Then everything is written.
-- @include turn/after/write.lua
if yield then
  -- @include turn/claim/write-yields.lua
end
-- @include turn/after/reserve.lua
-- Neither a pull nor a session that claims fewer than FEWEST_JOBS is noted: no worker gives up its second turn for them. In a block, as Lua
-- allows 200 locals.
do
  local hasFilled = #fit >= FEWEST_JOBS and outlook.limitAfter <= 0 and me.standing == 'stays'
  redis.call('SET', servedKey, digits(now) .. ' ' .. digits(grace.recoverFrom) .. ' ' .. digits(grace.postponedAt) .. ' ' .. (hasFilled and me.session or grace.lastToFill) .. (grouping and grouping.lookedUpTo or ''))
end
-- Of an idle turn too: a copy of it that was held up on the way would claim jobs that nobody then runs.
local result = table.concat(report.bits) .. '-' .. digits(fence) .. ' ' .. digits(now + settings.leaseMs) .. ' ' .. suspect
-- @include parts/answer.lua

-- Messages come last, as they cannot be taken back.
-- @include turn/after/wake-others.lua
-- The session asks again once its process is empty: nobody tells it then.
local waitsForSuspect = suspect == '' and me.limit > 0 and suspectIndex.count > 0 and (wish == '' or wish == 'reserve')
local uses = decided.trimsAgain and 'more' or '-'
if me.presence == 'here' and not decided.trimsAgain then
  -- @include turn/uses.lua
  uses = ''
  if usesMore then
    -- @include turn/uses-beside-groups.lua
    uses = usesBesideGroups and 'more' or 'groups'
  end
end
-- With µs: a session that took it for the whole millisecond would wake up to one later.
return { 'done', nowWithUs, table.concat(report.bits), report.lost, report.toCancel, report.recovered, report.late, report.brokenJobs, report.deadDropped, digits(outlook.lookAt), digits(fence) .. unconfirmed, nextCursor, (grace.lastToFill ~= '' and grace.lastToFill ~= me.session) and '1' or '', waitsForSuspect and 'waits' or suspect, recurring and recurring.skippedOccurrences or {}, gate and gate.tendAt and digits(gate.tendAt) or gate and '' or '-', recurring and recurring.toTend or {}, uses, completions or {}, unpack(claimed) }
