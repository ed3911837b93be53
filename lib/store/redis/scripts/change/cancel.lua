-- cancel: take a waiting job out of its queue for good, or the one that is queued behind a running job.
-- @numbered
-- @keys jobs, claims, failures, queued, stats, levels, sleeping
-- @arg id text: job id
-- @given clustered, settings.stealAfterMs, settings.keepEnded
-- @returns count '1' | '0', ...completions text[]: 1 if the job was waiting or queued and will never start; 0 if it had started, ended or was never there. Three for each completion job of a set that was done by this call: id, name, when it is due
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @needs parts/waiting.lua, parts/queued.lua, change/cancel-waiting.lua, parts/endings.lua

local envelope = redis.call('HGET', jobsKey, id)
local lane, due
if envelope then lane, due = findWaiting(id, envelope) end
local queued = not lane and readQueued(id)
if lane then
  cancelWaiting(id, envelope, lane)
  noteEnding(id, envelope, due, '"cancel"')
end
if queued then cancelQueued(id, queued, envelope) end
writeCancelled()
writeEndings()
local result = tostring(#cancelled + #unqueued)
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), result, unpack(completions or {}) }
