-- reschedule: give a waiting job, or the one that is queued behind a running job, another due time.
-- @numbered
-- @keys jobs, levels, sleeping, queued
-- @given clustered, settings.stealAfterMs
-- @arg id text: job id
-- @arg dueOrDelay number: > 0: at, epoch ms; <= 0: minus the delay in ms
-- @returns isMoved '1' | '0': 1 if the job was waiting or queued and is now due then; 0 if it had started, ended or was never there
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @needs parts/waiting.lua, parts/envelope.lua, parts/lanes.lua, parts/enter.lua, parts/queued.lua

local freedLanes, freeGroup, endHold = {}, nil, nil
-- @include group/free-group.lua
local due = dueOrDelay > 0 and dueOrDelay or now - dueOrDelay
local envelope = redis.call('HGET', jobsKey, id)
local result = '0'
local laneName = envelope and findWaiting(id, envelope)
if laneName then
  result = '1'
  addToLane(enterLane(laneName), id, due)
  endHold(id, laneName, false)
  closeLanes()
else
  local queued = readQueued(id)
  if queued then
    result = '1'
    redis.call('HSET', queuedKey, id, digits(due) .. ' ' .. queued.envelope)
  end
end
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), result }
