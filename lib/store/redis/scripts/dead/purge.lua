-- purge: delete the oldest dead jobs that a filter wants, with all that is known of them.
-- @numbered
-- @keys jobs, claims, failures, dead, stats
-- @arg limit count: how many to look at at the most
-- @arg diedBy epoch ms | '+inf': only those that died by then
-- @arg most count: how many to delete at the most
-- @arg from text: the place to begin at, '-inf 0 ' = the oldest
-- @arg reason text: only those that died for this reason, '' = any
-- @tail names name: only jobs of these names, none = any
-- @returns result text: "<how many were deleted> <1 where no other is left to look at, else 0> <place to go on at>"
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @needs parts/untag.lua, dead/dead-walk.lua

local wanted
for i = namesFrom, #ARGV do
  wanted = wanted or {}
  wanted[ARGV[i]] = true
end
local step = deadWalk(from, diedBy, limit, most, wanted, reason)
local ids, isTaken = {}, {}
for _, job in ipairs(step) do
  if job.isWanted then ids[#ids + 1], isTaken[job.id] = job.id, true end
end
if ids[1] then
  for i, claim in ipairs(redis.call('HMGET', claimsKey, unpack(ids))) do untagJob(ids[i], tagsOfClaim(claim or '')) end
  redis.call('ZREM', deadKey, unpack(ids))
  redis.call('HDEL', jobsKey, unpack(ids))
  redis.call('HDEL', claimsKey, unpack(ids))
  redis.call('HDEL', failuresKey, unpack(ids))
  redis.call('HINCRBY', statsKey, 'deadDropped', #ids)
  writeUntagged()
end
local result = deadAfter(step, isTaken)
-- @include parts/answer.lua
return { 'done', digits(now), result }
