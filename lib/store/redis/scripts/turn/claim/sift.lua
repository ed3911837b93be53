-- Sorts the picked jobs. Those to hand out leave their lanes and go into `fit`. A job that is too late by its rule, and a job whose envelope
-- is gone or damaged, ends here: told rather than dropped. So does an occurrence that its recurrence leaves out; one that has to wait for the
-- previous one stays in its lane. For each occurrence that begins or ends here, the next one of its recurrence is armed (recur/judge.lua).
-- `fit`: the jobs to hand out. `report.late`: five for each late job: id, name, attempts begun, how late (ms), the letter of its late rule.
-- `report.brokenJobs`: four for each job whose envelope is missing, or has the `damage` that a relay has found: id, name, attempts begun, the reason.
-- @needs parts/envelope-tags.lua, parts/clock.lua, parts/envelope.lua, parts/claim.lua, parts/lanes.lua, turn/claims.lua
-- @takes base, decided, report, picked, envelopes, recurring, fit, claimsKey, activeKey, deadKey, failuresKey, giveBack, grouping
-- @gives UNCLAIMED
-- A job that nobody has claimed before.
UNCLAIMED = { attempt = 0, crashes = 0 }

-- Lanes begin with a digit, so a higher first byte is that of a late rule.
local BYTE_9 = 57
local function lateRule(job)
  local first = string.byte(job.envelope)
  if not first or first <= BYTE_9 then return nil end
  local rule, maxLatenessMs = string.match(job.envelope, '^(%l)(%d+) ')
  -- One that is made up for may be as late as it is.
  if rule and now - job.due > tonumber(maxLatenessMs) and not hasFlag(job.envelope, 'm') then return rule end
end

local LEFT_OUT = { missed = true, overlap = true }

local settlements = decided.settlements
local function turnAway(job, transition, reason)
  local claim = job.claim
  local tags = job.envelope and tagsOf(job.envelope) or claim.tags or ''
  if not job.envelope and tags == '' then
    -- Nothing tells any more of which set it is, and a set would wait for it for ever.
    for _, set in ipairs(redis.call('ZRANGE', base .. 'sets', 0, SETS_LOOKED_AT - 1)) do
      if redis.call('HEXISTS', base .. 'members:' .. set, job.id) == 1 then tags = '\t\31' .. set end
    end
  end
  settlements[#settlements + 1] = {
    transition = transition,
    id = job.id,
    claim = { attempt = claim.attempt, crashes = claim.crashes, due = job.due, lane = job.front.lane, tags = tags, progress = claim.progress },
    lostEnvelope = not job.envelope,
    -- 'r': the id is to be remembered. Not that of an occurrence whose policy leaves it out: a backfill may want it, and no rule comes back to it.
    first = not LEFT_OUT[reason] and hasFlag(job.envelope or '', 'c') and 'r' or '',
    second = '{"reason":"' .. reason .. '"}',
    reason = '"' .. reason .. '"',
    failures = redis.call('HGET', failuresKey, job.id),
  }
  giveBack(job)
  if grouping then grouping.endHold(job.id, job.front.lane, true) end
  -- The turn may claim other jobs instead, so look again.
  decided.looksAgain = true
end

local fitCount = 0
-- Answers whether the job is to stay in its lane.
local function sift(job)
  local occurrence = recurring and recurring.of[job]
  local damage = not job.envelope and 'envelope-missing' or job.damage
  if damage then
    if occurrence then recurring.skip(occurrence) end
    for _, field in ipairs({ job.id, job.front.name, tostring(job.claim.attempt), damage }) do report.brokenJobs[#report.brokenJobs + 1] = field end
    return turnAway(job, 'dead', damage)
  end
  local verdict = occurrence and recurring.judge(occurrence, job)
  if verdict == 'wait' then return true end
  if verdict and verdict ~= 'begin' then return turnAway(job, 'discard', verdict) end
  local rule = lateRule(job)
  if rule then
    local attempts = tostring(job.claim.attempt)
    for _, field in ipairs({ job.id, job.front.name, attempts, digits(now - job.due), rule }) do report.late[#report.late + 1] = field end
    if occurrence and rule ~= 'r' then recurring.skip(occurrence) end
    if rule == 'd' then return turnAway(job, 'discard', 'late') end
    if rule == 'x' then return turnAway(job, 'dead', 'late') end
  end
  if verdict then recurring.begin(occurrence) end
  fitCount = fitCount + 1
  fit[fitCount] = job
end

local claims, count = {}, #picked
-- @include turn/claim/may-be-claimed.lua
if mayBeClaimed then
  local ids = {}
  for i, job in ipairs(picked) do ids[i] = job.id end
  claims = readClaims(ids)
end
for i = 1, #picked do
  local job, claim = picked[i], claims[i]
  local front = job.front
  job.envelope = envelopes[i]
  job.claim = claim and parseClaim(claim) or UNCLAIMED
  local lane = openLane(front.lane, front)
  if recurring then
    -- By id, as one that stays may stand before others.
    if not sift(job) then takeFromLane(lane, job.id) end
  else
    -- By rank where the job is known to be among the lane's first ones: that is cheaper than by its id.
    if front.inOrder then lane.firstsTaken = lane.firstsTaken + 1 else takeFromLane(lane, job.id) end
    sift(job)
  end
end
if recurring then recurring.resolve() end
