-- replay: put dead jobs back into their lanes, to run from attempt 1 again; their failures stay with them. One job, or the oldest that
-- a filter wants.
-- @numbered
-- @keys jobs, claims, failures, dead, levels, sleeping
-- @given clustered, settings.stealAfterMs
-- @arg dueOrDelay number: of the first, > 0: at, epoch ms; <= 0: minus the delay in ms
-- @arg spacing ms: how much later each next one is due; may have a fraction
-- @arg replayed count: how many the calls before this one have put back, which are due before
-- @arg id text: job id, or '' for the oldest
-- @arg limit count: how many to look at at the most
-- @arg diedBy epoch ms | '+inf': only those that died by then
-- @arg most count: how many to put back at the most
-- @arg from text: the place to begin at, '-inf 0 ' = the oldest
-- @arg reason text: only those that died for this reason, '' = any
-- @tail names name: only jobs of these names, none = any
-- @returns result text: "<how many were put back> <1 where no other is left to look at, else 0> <place to go on at>"
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @needs parts/envelope.lua, parts/envelope-tags.lua, parts/lanes.lua, parts/enter.lua, parts/tag.lua, dead/dead-walk.lua

local step, ids = { from = '-inf', skipped = 0, last = '' }, {}
if id == '' then
  local wanted
  for i = namesFrom, #ARGV do
    wanted = wanted or {}
    wanted[ARGV[i]] = true
  end
  step = deadWalk(from, diedBy, limit, most, wanted, reason)
  for _, job in ipairs(step) do
    if job.isWanted then ids[#ids + 1] = job.id end
  end
else
  local diedAt = redis.call('ZSCORE', deadKey, id)
  if diedAt then ids, step[1] = { id }, { id = id, diedAt = diedAt } end
end

local first = dueOrDelay > 0 and dueOrDelay or now - dueOrDelay
local back, isBack = {}, {}
-- By set, how many members are pending again.
local pending = {}
if ids[1] then
  for i, envelope in ipairs(redis.call('HMGET', jobsKey, unpack(ids))) do
    local laneName = laneOf(envelope or '')
    -- One whose envelope cannot be read stays where it is: it could only die again.
    if laneName ~= '' then
      addToLane(enterLane(laneName), ids[i], math.floor(first + (replayed + #back) * spacing))
      back[#back + 1], isBack[ids[i]] = ids[i], true
      local set = string.match(tagsOf(envelope), '\t(\31[^\t]*)')
      local dead = set and tonumber(redis.call('HGET', base .. 'set:' .. string.sub(set, 2), 'dead') or 0) or 0
      -- It is pending again. Of a set that is done it runs without being counted.
      if dead > (pending[set] or 0) then
        pending[set] = (pending[set] or 0) + 1
        tagJob(ids[i], set)
      end
    end
  end
end
if back[1] then
  closeLanes()
  redis.call('ZREM', deadKey, unpack(back))
  redis.call('HDEL', claimsKey, unpack(back))
  for set, count in pairs(pending) do redis.call('HINCRBY', base .. 'set:' .. string.sub(set, 2), 'dead', -count) end
  writeTagged()
end
local result = deadAfter(step, isBack)
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), result }
