-- reschedule: give a waiting job, or the one that is queued behind a running job, another due time.
-- @numbered
-- @keys jobs, levels, sleeping, queued
-- @arg clustered flag: whether Redis is a cluster
-- @arg stealAfterMs ms: how late a job must be before any worker may take it from the one that it prefers
-- @arg id text: job id
-- @arg dueOrDelay number: > 0: at, epoch ms; <= 0: minus the delay in ms
-- @returns isMoved '1' | '0': 1 if the job was waiting or queued and is now due then; 0 if it had started, ended or was never there
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/envelope.lua
-- @include parts/waiting.lua
-- @include parts/lanes.lua
-- @include parts/wake.lua
-- @include parts/queued.lua

local status, answer = answeredBefore(receiptKey, callNumber, deadline)
if status then return { status, digits(now), answer } end

local due = dueOrDelay > 0 and dueOrDelay or now - dueOrDelay
local envelope = redis.call('HGET', jobsKey, id)
local result = '0'
local laneName, lane = envelope and findWaiting(id, envelope), nil
if laneName then
  result = '1'
  lane = openLane(laneName)
  readWakers(nameOf(lane.name))
  addToLane(lane, id, due)
  closeLanes()
else
  local queued = queuedJobs.read(id)
  if queued then
    result = '1'
    redis.call('HSET', queuedKey, id, digits(due) .. ' ' .. queued.envelope)
  end
end
redis.call('SET', receiptKey, callNumber .. ' ' .. result, 'PX', keepReceiptMs)
if lane and lane.moved then wakeLane(lane) end
return { 'done', digits(now), result }
