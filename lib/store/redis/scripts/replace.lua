-- replace: schedule one job, or put it in the place of the job that has its id: at once where that job waits or is dead, after the run
-- where it runs.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:claims      HASH job id -> claim record
-- KEYS[3] sq:{<queue>}:failures    HASH job id -> failed attempts
-- KEYS[4] sq:{<queue>}:active      ZSET job id -> end of its lease (epoch ms)
-- KEYS[5] sq:{<queue>}:dead        ZSET job id -> when it died (epoch ms)
-- KEYS[6] sq:{<queue>}:usedIds     ZSET chosen id of an ended job -> when it may be used again (epoch ms)
-- KEYS[7] sq:{<queue>}:stats       HASH counter -> number
-- KEYS[8] sq:{<queue>}:completed   ZSET id of a kept completed job -> when it completed (epoch ms)
-- KEYS[9] sq:{<queue>}:results     HASH id of a kept completed job -> its result
-- KEYS[10] sq:{<queue>}:levels     ZSET priority -> earliest due (epoch ms)
-- KEYS[11] sq:{<queue>}:sleeping   ZSET group of workers -> until when some of it may sleep (epoch ms)
-- KEYS[12] sq:{<queue>}:queued     HASH id of a running job -> due and envelope of the job that replaces it after the run
-- KEYS[13] sq:{<queue>}:receipt:<caller> STRING last call number and its answer
-- ARGV[1] key base   ARGV[2] call number   ARGV[3] deadline (epoch ms, 0 = none)   ARGV[4] how long the record is kept (ms)
-- ARGV[5] '1' on a cluster   ARGV[6] job id   ARGV[7] head of the envelope   ARGV[8] due (> 0: at, epoch ms; <= 0: minus the delay in ms)
-- ARGV[9] how the id was chosen ('c', or 'm' in the form of a made one)   ARGV[10] the envelope from its flags on
-- ARGV[11] how late a job must be before any worker may take it from the one that it prefers (ms)
-- Returns {status, now, letter}, then, but for 'e', the due time of the job that has the id now, then what the letter needs. Letters:
-- '1' created, then 'dead' where a dead job was pushed out; 'r' a waiting job was replaced; 'q' queued behind a running job;
-- 't' a job of another name waits, runs or is dead, then that name; 'e' a made id whose job was created before, and has ended.
-- Repeating it after a lost reply: the record answers like the first time.
local jobsKey, claimsKey, failuresKey, activeKey, deadKey, usedIdsKey, statsKey = unpack(KEYS, 1, 7)
local completedKey, resultsKey, levelsKey, sleepingKey, queuedKey, receiptKey = unpack(KEYS, 8, 13)
local base, callNumber, deadline = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local clustered, stealAfterMs = ARGV[5] == '1', tonumber(ARGV[11])
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/made.lua
-- @include parts/envelope.lua
-- @include parts/waiting.lua
-- @include parts/lanes.lua
-- @include parts/wake.lua
-- @include parts/tag.lua
-- @include parts/untag.lua
-- @include parts/queued.lua

do
  local status, answer = answeredBefore(receiptKey, callNumber, deadline)
  if status then
    local reply = { status, digits(now) }
    -- Names may hold spaces, but no line breaks.
    for part in string.gmatch(answer or '', '[^\n]+') do reply[#reply + 1] = part end
    return reply
  end
end

local id, due = ARGV[6], tonumber(ARGV[8])
due = due > 0 and due or now - due
local laneName, tags = laneOfHead(ARGV[7]), tagsOfFlags(ARGV[10])
local name, newEnvelope = nameOf(laneName), ARGV[7] .. '\n' .. digits(now) .. ' ' .. ARGV[10]

-- The job that has the id. `state`: 'waiting', 'active', 'dead', or nil where there is none.
local there = {}
do
  there.envelope = redis.call('HGET', jobsKey, id) or ''
  there.tags = tagsOf(there.envelope)
  there.lane, there.due = findWaiting(id, there.envelope)
  there.record = redis.call('HGET', claimsKey, id) or ''
  if there.due then
    there.state = 'waiting'
  else
    there.state = redis.call('ZSCORE', activeKey, id) and 'active' or redis.call('ZSCORE', deadKey, id) and 'dead'
    -- The format of parts/record.lua. Where somebody has taken the envelope, the record still tells lane and tags.
    local claimedDue, lane, claimedTags = string.match(there.record, '^%d+%l* %d+ %d+ (%d+) %S+ ([^\t]*)(.*)$')
    there.due = claimedDue or digits(now)
    if there.envelope == '' then there.lane, there.tags = lane, claimedTags or '' end
  end
  there.name = there.state and nameOf(there.lane or laneOf(there.envelope))
end

local lane
-- Puts the new job into its lane. It keeps the crashes of a waiting job, and its place among the suspects: or a job that kills its
-- process could be kept alive for ever by replacing it.
local function putInPlace(crashes)
  lane = openLane(there.lane and there.lane == suspectLane(there.lane) and suspectLane(laneName) or laneName)
  readWakers(name)
  if there.lane and there.lane ~= lane.name then takeFromLane(openLane(there.lane), id) end
  addToLane(lane, id, due)
  untagJob(id, queuedJobs.without(there.tags, tags))
  tagJob(id, queuedJobs.without(tags, there.tags))
  redis.call('HSET', jobsKey, id, newEnvelope)
  closeLanes()
  writeTagged()
  if crashes > 0 then
    redis.call('HSET', claimsKey, id, '0 0 ' .. crashes .. ' ' .. digits(due) .. ' - ' .. lane.name .. tags)
  else
    redis.call('HDEL', claimsKey, id)
  end
  redis.call('HDEL', failuresKey, id)
  writeUntagged()
end

local replaceAs = {}

function replaceAs.waiting()
  putInPlace(tonumber(string.match(there.record, '^%d+%l* %d+ (%d+) ') or 0))
  return { 'r', digits(due) }
end

function replaceAs.active()
  local before = queuedJobs.read(id)
  local marked, rest = string.match(there.record, '^(%d+%l*)( .*)$')
  local tagsBefore = before and before.tags or ''
  untagJob(id, queuedJobs.without(tagsBefore, there.tags .. tags))
  tagJob(id, queuedJobs.without(tags, there.tags .. tagsBefore))
  redis.call('HSET', queuedKey, id, digits(due) .. ' ' .. newEnvelope)
  -- Where somebody has taken the claim record there is nothing to mark: the queued job is found when the lease ends.
  if marked and not string.find(marked, 'q', 1, true) then redis.call('HSET', claimsKey, id, marked .. 'q' .. rest) end
  writeTagged()
  writeUntagged()
  return { 'q', digits(due) }
end

local function create()
  putInPlace(0)
  redis.call('HINCRBY', statsKey, 'scheduled', 1)
  redis.call('ZREM', usedIdsKey, id)
  redis.call('ZREM', completedKey, id)
  redis.call('HDEL', resultsKey, id)
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
elseif there.envelope == '' and ranUnanswered(id, ARGV[9]) then
  answer = { 'e' }
else
  there.lane = nil
  answer = create()
end
redis.call('SET', receiptKey, ARGV[2] .. ' ' .. table.concat(answer, '\n'), 'PX', ARGV[4])
if lane and lane.moved then wakeLane(lane) end
return { 'done', digits(now), unpack(answer) }
