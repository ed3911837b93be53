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
for _, priority in ipairs(redis.call('ZRANGE', KEYS[5], '-inf', digits(now), 'BYSCORE')) do
  local lanes = redis.call('ZCOUNT', base .. 'heads:' .. priority, '-inf', digits(now))
  if passOver >= lanes then
    passOver = passOver - lanes
  elseif lanesLeft <= 0 then
    whole = '0'
    break
  else
    local found = redis.call('ZRANGE', base .. 'heads:' .. priority, '-inf', digits(now), 'BYSCORE', 'LIMIT', passOver, lanesLeft)
    for _, head in ipairs(found) do
      local lane = string.match(head, '\t(.*)$')
      due = due + redis.call('ZCOUNT', base .. 'lane:' .. lane, '-inf', digits(now))
    end
    if passOver + #found < lanes then whole = '0' end
    lanesLeft, passOver = lanesLeft - #found, 0
  end
end
local first = redis.call('ZRANGE', KEYS[5], 0, 0, 'WITHSCORES')[2] or ''
return { waiting, due, active, dead, redis.call('ZCARD', KEYS[4]), whole, digits(now), first }
