-- counts: how many jobs are in each state, those of so many due lanes at a time.
-- @keys jobs, active, dead, completed, levels
-- @arg base text: what every key of the queue begins with
-- @arg from text: where to go on with the due lanes, '' = from the start
-- @arg costLeft count: how many due lanes to look into at the most, 0 = not even at their levels
-- @returns waiting number, due number, active number, dead number, completed number, next text, now text, nextDue text:
--   `due` counts the lanes looked into; next: where to go on, '' = no due lane is left; nextDue: '' where nothing waits
-- @repeat it only reads.
-- @needs parts/clock.lua, look/each-lane.lua
local active, dead = redis.call('ZCARD', activeKey), redis.call('ZCARD', deadKey)
local waiting = redis.call('HLEN', jobsKey) - active - dead
local due, goOn, untilNow = 0, '', digits(now)
if costLeft > 0 then
  goOn = eachLane(from, untilNow, costLeft, function(lane)
    due = due + redis.call('ZCOUNT', base .. 'lane:' .. lane, '-inf', untilNow)
    return 1
  end)
end
local first = math.huge
for _, key in ipairs({ levelsKey, base .. 'levels:*', base .. 'levels:!', base .. 'levels:@' }) do
  first = math.min(first, tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] or math.huge))
end
return { waiting, due, active, dead, redis.call('ZCARD', completedKey), goOn, digits(now), first < math.huge and digits(first) or '' }
