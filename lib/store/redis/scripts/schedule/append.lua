-- append: add one job, as a command of a MULTI of the caller's own. A job whose id is known already, or ended lately, is not added.
-- @keys jobs, claims, usedIds, stats, completed, results, levels, sleeping
-- @arg base text: what every key of the queue begins with
-- @arg clustered flag: whether Redis is a cluster
-- @arg settings.stealAfterMs ms: how late a job must be before any worker may take it from the one that it prefers
-- @arg keepReceiptMs ms: how long receipts are kept
-- @arg id text: job id
-- @arg chosen 'c' | 'm': how the id was chosen; 'm' in the form of a made one
-- @arg route text: the first line of the envelope
-- @arg dueOrDelay number: > 0: at, epoch ms; <= 0: minus the delay in ms
-- @arg rest payload: the envelope from its flags on
-- @returns text: the letter of the job, as of schedule.lua. Nobody reads it: EXEC answers the caller
-- @repeat it finds the job, or its id among `usedIds`. There is no receipt: only the caller knows whether a MULTI is sent again, and the receipt
--   of each MULTI would stay in Redis.
-- @needs parts/clock.lua, parts/envelope.lua, parts/route.lua, parts/lanes.lua, parts/enter.lua, parts/tag.lua, schedule/admit.lua
local chosenIds, seen, duplicates, goingOn = { id }, {}, {}, {}
local letterOf
-- @include schedule/duplicates.lua

local laneName, tags = laneOfRoute(route), tagsOfFlags(rest)
local letter = letterOf(id, chosen, nameOf(laneName)) or '1'
if letter == '1' then
  addToLane(enterLane(laneName), id, dueOrDelay > 0 and dueOrDelay or now - dueOrDelay)
  if tags ~= '' then tagJob(id, tags) end
  admitted.fields, admitted.chosenIds = { id, route .. '\n' .. digits(now) .. ' ' .. rest }, chosenIds
  writeAdmitted()
  writeScheduled()
  -- See schedule.lua.
  if string.find(rest, '^%l*t') then redis.call('HSET', statsKey, 'schema', SCHEMA) end
end
if goingOn[1] then redis.call('HSET', claimsKey, unpack(goingOn)) end
-- @include parts/wake/lanes.lua
return letter
