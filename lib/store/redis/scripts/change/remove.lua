-- remove: delete one job that does not run: a waiting one, which counts as cancelled, a dead one, or one that is kept
--   though it has completed, was discarded or was cancelled. Nothing is kept of it.
-- @numbered
-- @keys jobs, claims, failures, usedIds, stats, levels, sleeping, dead, completed, results, queued
-- @arg id text: job id
-- @given clustered, settings.stealAfterMs
-- @returns isRemoved '1' | '0': 0 if the job runs or is not there
-- @needs parts/envelope-tags.lua, parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @needs parts/envelope.lua, parts/waiting.lua, parts/untag.lua, change/cancel-waiting.lua

local result = '1'
local envelope = redis.call('HGET', jobsKey, id)
local lane = envelope and findWaiting(id, envelope)
-- A dead job whose envelope is gone or damaged can still be deleted.
local isDead = redis.call('ZSCORE', deadKey, id)
if isDead then
  refuseOtherKinds()
  -- Where the envelope is gone, the claim tells the tags.
  untagJob(id, envelope and tagsOf(envelope) or tagsOfClaim(redis.call('HGET', claimsKey, id) or ''))
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
elseif not envelope and redis.call('ZREM', base .. 'ended', id) == 1 then
  redis.call('HDEL', base .. 'endings', id)
  redis.call('ZREM', usedIdsKey, id)
else
  result = '0'
end
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), result }
