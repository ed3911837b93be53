-- remove: delete one job that does not run: a waiting one, which counts as cancelled, a dead one or a completed one that is kept.
-- @numbered
-- @keys jobs, claims, failures, usedIds, stats, levels, dead, completed, results, queued
-- @arg id text: job id
-- @returns isRemoved '1' | '0': 0 if the job runs or is not there
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

local result = '1'
local envelope = redis.call('HGET', jobsKey, id)
local lane = envelope and findWaiting(id, envelope)
-- A dead job whose envelope is gone or damaged can still be deleted.
local isDead = redis.call('ZSCORE', deadKey, id)
if isDead then
  refuseOtherKinds()
  -- That of its claim record is what the index holds, where the envelope is gone.
  untagJob(id, envelope and tagsOf(envelope) or tagsOfRecord(redis.call('HGET', claimsKey, id) or ''))
  redis.call('ZREM', deadKey, id)
  redis.call('HDEL', jobsKey, id)
  redis.call('HDEL', claimsKey, id)
  redis.call('HDEL', failuresKey, id)
  redis.call('HINCRBY', statsKey, 'deadDropped', 1)
  writeUntagged()
elseif lane then
  cancelWaiting(id, envelope, lane)
  writeCancelled()
elseif not envelope and redis.call('ZSCORE', completedKey, id) then
  redis.call('ZREM', completedKey, id)
  redis.call('HDEL', resultsKey, id)
  redis.call('ZREM', usedIdsKey, id)
else
  result = '0'
end
redis.call('SET', receiptKey, callNumber .. ' ' .. result, 'PX', keepReceiptMs)
return { 'done', digits(now), result }
