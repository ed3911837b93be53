-- counts: how many jobs are in each state, those of so many due lanes at a time.
-- @keys jobs, active, dead, completed, levels
-- @arg base text: what every key of the queue begins with
-- @arg passOver count: how many due lanes to pass over
-- @arg lanesLeft count: how many to look into at the most
-- @returns waiting number, due number, active number, dead number, completed number, isWhole '1' | '0', now text, nextDue text:
--   `due` counts the lanes looked into; isWhole: no due lane is left; nextDue: '' where nothing waits
-- @repeat it only reads.
-- @include shared/clock.lua
local active, dead = redis.call('ZCARD', activeKey), redis.call('ZCARD', deadKey)
local waiting = redis.call('HLEN', jobsKey) - active - dead
local due, whole = 0, '1'
local untilNow = digits(now)
-- Lanes without a preferred worker, then all those with one, then those of suspects: as endings of their heads' keys.
local endings, first = {}, math.huge
for _, ending in ipairs({ '', ':*', ':!' }) do
  local key = ending == '' and levelsKey or base .. 'levels' .. ending
  for _, priority in ipairs(redis.call('ZRANGE', key, '-inf', untilNow, 'BYSCORE')) do
    endings[#endings + 1] = priority .. ending
  end
  first = math.min(first, tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] or math.huge))
end
for _, ending in ipairs(endings) do
  local headsKey = base .. 'heads:' .. ending
  local lanes = redis.call('ZCOUNT', headsKey, '-inf', untilNow)
  if passOver >= lanes then
    passOver = passOver - lanes
  elseif lanesLeft <= 0 then
    whole = '0'
    break
  else
    -- By rank, as due heads are the first ones: with BYSCORE and LIMIT, Redis would walk through all that are passed over.
    local found = redis.call('ZRANGE', headsKey, passOver, math.min(passOver + lanesLeft, lanes) - 1)
    for _, head in ipairs(found) do
      local lane = string.match(head, '\t(.*)$')
      due = due + redis.call('ZCOUNT', base .. 'lane:' .. lane, '-inf', untilNow)
    end
    if passOver + #found < lanes then whole = '0' end
    lanesLeft, passOver = lanesLeft - #found, 0
  end
end
return { waiting, due, active, dead, redis.call('ZCARD', completedKey), whole, digits(now), first < math.huge and digits(first) or '' }
