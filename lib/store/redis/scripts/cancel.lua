-- cancel: take a waiting job out of its queue for good, or the one that is queued behind a running job.
-- @numbered
-- @keys jobs, claims, failures, queued, stats, levels
-- @arg id text: job id
-- @returns count '1' | '0': 1 if the job was waiting or queued and will never start; 0 if it had started, ended or was never there
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/envelope.lua
-- @include parts/waiting.lua
-- @include parts/lanes.lua
-- @include parts/untag.lua
-- @include parts/queued.lua
-- @include parts/cancel.lua

local status, answer = answeredBefore(receiptKey, callNumber, deadline)
if status then return { status, digits(now), answer } end

local envelope = redis.call('HGET', jobsKey, id)
local lane = envelope and findWaiting(id, envelope)
local queued = not lane and queuedJobs.read(id)
if lane then cancelWaiting(id, envelope, lane) end
if queued then cancelQueued(id, queued, envelope) end
writeCancelled()
local result = tostring(#cancelled + #unqueued)
redis.call('SET', receiptKey, callNumber .. ' ' .. result, 'PX', keepReceiptMs)
return { 'done', digits(now), result }
