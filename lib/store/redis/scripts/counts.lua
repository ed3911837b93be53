-- counts: how many jobs are in each state, those of so many due lanes at a time.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:active      ZSET job id -> end of its lease (epoch ms)
-- KEYS[3] sq:{<queue>}:dead        ZSET job id -> when it died (epoch ms)
-- KEYS[4] sq:{<queue>}:completed   ZSET job id -> when it completed (epoch ms)
-- KEYS[5] sq:{<queue>}:levels      ZSET priority -> earliest due (epoch ms)
-- ARGV[1] key base   ARGV[2] how many due lanes to pass over   ARGV[3] how many to look into at the most
-- Returns {waiting, due in the lanes looked into, active, dead, completed, '1' if no due lane is left, now, next due or ''}.
-- Repeating it: it only reads.
local base, passOver, lanesLeft = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
-- @include parts/clock.lua
local active, dead = redis.call('ZCARD', KEYS[2]), redis.call('ZCARD', KEYS[3])
local waiting = redis.call('HLEN', KEYS[1]) - active - dead
local due, whole = 0, '1'
-- Lanes without a preferred worker, then all those with one, then those of suspects: as endings of their heads' keys.
local endings, first = {}, math.huge
for _, ending in ipairs({ '', ':*', ':!' }) do
  local key = ending == '' and KEYS[5] or base .. 'levels' .. ending
  for _, priority in ipairs(redis.call('ZRANGE', key, '-inf', digits(now), 'BYSCORE')) do
    endings[#endings + 1] = priority .. ending
  end
  first = math.min(first, tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] or math.huge))
end
for _, ending in ipairs(endings) do
  local headsKey = base .. 'heads:' .. ending
  local lanes = redis.call('ZCOUNT', headsKey, '-inf', digits(now))
  if passOver >= lanes then
    passOver = passOver - lanes
  elseif lanesLeft <= 0 then
    whole = '0'
    break
  else
    local found = redis.call('ZRANGE', headsKey, '-inf', digits(now), 'BYSCORE', 'LIMIT', passOver, lanesLeft)
    for _, head in ipairs(found) do
      local lane = string.match(head, '\t(.*)$')
      due = due + redis.call('ZCOUNT', base .. 'lane:' .. lane, '-inf', digits(now))
    end
    if passOver + #found < lanes then whole = '0' end
    lanesLeft, passOver = lanesLeft - #found, 0
  end
end
return { waiting, due, active, dead, redis.call('ZCARD', KEYS[4]), whole, digits(now), first < math.huge and digits(first) or '' }
