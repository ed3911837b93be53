-- job: all that is known of one job.
-- @keys jobs, claims, failures, active, dead, completed, results, queued
-- @arg base text: what every key of the queue begins with
-- @arg id text: job id
-- @returns ...known text[]: see look/known.lua, of one that was discarded or cancelled and is kept 'ended' and the text of parts/keep-ended.lua; nothing of an unknown job
-- @repeat it only reads.
-- @needs parts/clock.lua, look/known.lua
local known = knownOf(id)
if not known[1] then
  local endedAt = redis.call('ZSCORE', base .. 'ended', id)
  if endedAt then return { digits(now), 'ended', endedAt, '', '', '', redis.call('HGET', base .. 'endings', id) or '' } end
end
return known
