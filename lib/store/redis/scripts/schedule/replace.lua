-- replace: schedule one job, or put it in the place of the job that has its id: at once where that job waits or is dead, after the run
-- where it runs.
-- @numbered
-- @keys jobs, claims, failures, active, dead, usedIds, stats, completed, results, levels, sleeping, queued
-- @given clustered, settings.stealAfterMs
-- @arg id text: job id
-- @arg chosen 'c' | 'm': how the id was chosen; 'm' in the form of a made one
-- @arg route text: the first line of the envelope
-- @arg dueOrDelay number: > 0: at, epoch ms; <= 0: minus the delay in ms
-- @arg maxWaitMs number: how long after the first of its row it is due at the latest (ms), -1 = any time (see schedule/when.lua)
-- @arg throttleMs number: how far apart the due times of new jobs of the id are at least (ms), -1 = not at all
-- @arg rest payload: the envelope from its flags on
-- @returns letter text, due? text, besides? text: `due` of the job that has the id now, but for 'e'. Letters: '1' created, `besides`
--   'dead' where a dead job was pushed out; 'r' a waiting job was replaced; 'q' queued behind a running job; 't' a job of another name,
--   `besides`, waits, runs or is dead; 'e' a made id whose job was created before, and has ended
-- @needs parts/claim-text.lua, parts/envelope-tags.lua, parts/clock.lua
-- @include parts/begin.lua
-- @needs schedule/made.lua, parts/envelope.lua, parts/claim.lua, parts/route.lua, parts/waiting.lua, parts/lanes.lua, parts/enter.lua
-- @needs parts/tag.lua, parts/untag.lua, parts/queued.lua, schedule/admit.lua, schedule/when.lua

if earlierAnswer then
  local reply = { 'replayed', digits(now) }
  -- Names may hold spaces, but no line breaks.
  for field in string.gmatch(earlierAnswer, '[^\n]+') do reply[#reply + 1] = field end
  return reply
end

local laneName, tags = laneOfRoute(route), tagsOfFlags(rest)
local name = nameOf(laneName)

-- When the new job is due, and its envelope. `before`: as of `whenOf`.
local due, newEnvelope
local function setWhen(before)
  local created
  due, created = whenOf(before)
  newEnvelope = route .. '\n' .. created .. rest
end

-- The job that has the id. `state`: 'waiting', 'active', 'dead', or nil where there is none.
local there = {}
do
  there.envelope = redis.call('HGET', jobsKey, id) or ''
  there.tags = tagsOf(there.envelope)
  there.lane, there.due = findWaiting(id, there.envelope)
  there.claim = redis.call('HGET', claimsKey, id) or ''
  if there.due then
    there.state = 'waiting'
  else
    there.state = redis.call('ZSCORE', activeKey, id) and 'active' or redis.call('ZSCORE', deadKey, id) and 'dead'
    -- Where somebody has taken the envelope, the claim still tells lane and tags.
    local claim = parseClaim(there.claim) or { due = now, tags = '' }
    there.due = digits(claim.due)
    if there.envelope == '' then there.lane, there.tags = claim.lane, claim.tags end
  end
  there.name = there.state and nameOf(there.lane or laneOf(there.envelope))
end

-- Puts the new job into its lane. It keeps the crashes of a waiting job, and its place among the suspects: or a job that kills its
-- process could be kept alive for ever by replacing it.
local function putInPlace(crashes)
  local lane = enterLane(there.lane and there.lane == suspectLane(there.lane) and suspectLane(laneName) or laneName)
  if there.lane and there.lane ~= lane.name then takeFromLane(openLane(there.lane), id) end
  addToLane(lane, id, due)
  admitted.fields, admitted.chosenIds = { id, newEnvelope }, { id }
  -- A job that takes the place of a dead one is a new one, also in the order of its tags.
  tagJob(id, there.state == 'dead' and tags or tagsWithout(tags, there.tags))
  untagJob(id, tagsWithout(there.tags, tags))
  writeAdmitted()
  if crashes > 0 then
    redis.call('HSET', claimsKey, id, formatClaim('0n', 0, crashes, digits(due), '-', lane.name, tags))
  else
    redis.call('HDEL', claimsKey, id)
  end
  redis.call('HDEL', failuresKey, id)
  writeUntagged()
end

local freedLanes, freeGroup, endHold = {}, nil, nil
-- @include group/free-group.lua
local replaceAs = {}

function replaceAs.waiting()
  setWhen({ envelope = there.envelope, due = tonumber(there.due), claim = there.claim })
  endHold(id, there.lane, true)
  putInPlace((parseClaim(there.claim) or { crashes = 0 }).crashes)
  return { 'r', digits(due) }
end

function replaceAs.active()
  local before = readQueued(id)
  setWhen(before)
  local marked = remarked(there.claim, '[fq]', 'q')
  local tagsBefore = before and before.tags or ''
  untagJob(id, tagsWithout(tagsBefore, there.tags .. tags))
  tagJob(id, tagsWithout(tags, there.tags .. tagsBefore))
  redis.call('HSET', queuedKey, id, digits(due) .. ' ' .. newEnvelope)
  -- Where somebody has taken the claim there is nothing to mark: the queued job is found when the lease ends.
  if marked then redis.call('HSET', claimsKey, id, marked) end
  if not before then writeThrottle(due) end
  writeTagged()
  writeUntagged()
  return { 'q', digits(due) }
end

local function create()
  setWhen()
  putInPlace(0)
  writeThrottle(due)
  writeScheduled()
  return { '1', digits(due) }
end

function replaceAs.dead()
  -- A dead job lies in no lane, and the new job is no suspect for it.
  there.lane = nil
  local answer = create()
  redis.call('ZREM', deadKey, id)
  redis.call('HINCRBY', statsKey, 'deadDropped', 1)
  answer[3] = 'dead'
  return answer
end

local answer
if there.name and there.name ~= name then
  answer = { 't', there.due, there.name }
elseif there.state then
  answer = replaceAs[there.state]()
elseif there.envelope == '' and ranUnanswered(id, chosen) then
  answer = { 'e' }
else
  there.lane = nil
  answer = create()
end
local result = table.concat(answer, '\n')
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), unpack(answer) }
