-- counts: how many jobs are in each state, and what has happened since the queue began.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:active      ZSET job id -> end of its lease (epoch ms)
-- KEYS[3] sq:{<queue>}:dead        ZSET job id -> when it died (epoch ms)
-- KEYS[4] sq:{<queue>}:completed   ZSET job id -> when it completed (epoch ms)
-- KEYS[5] sq:{<queue>}:levels      ZSET priority -> earliest due (epoch ms)
-- ARGV[1] key base   ARGV[2] how many lanes to look into at the most
-- Returns {waiting, due, active, dead, completed, '1' if every due lane was looked into, now, next due or ''}.
-- Repeating it: it only reads.
local base, room = ARGV[1], tonumber(ARGV[2])
-- @include parts/clock.lua
local active, dead = redis.call('ZCARD', KEYS[2]), redis.call('ZCARD', KEYS[3])
local waiting = redis.call('HLEN', KEYS[1]) - active - dead
local due, whole = 0, '1'
for _, priority in ipairs(redis.call('ZRANGE', KEYS[5], '-inf', digits(now), 'BYSCORE')) do
  for _, head in ipairs(redis.call('ZRANGE', base .. 'heads:' .. priority, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, room)) do
    local lane = string.match(head, '\t(.*)$')
    due = due + redis.call('ZCOUNT', base .. 'lane:' .. lane, '-inf', digits(now))
    room = room - 1
  end
  if room <= 0 then
    whole = '0'
    break
  end
end
local first = redis.call('ZRANGE', KEYS[5], 0, 0, 'WITHSCORES')[2] or ''
return { waiting, due, active, dead, redis.call('ZCARD', KEYS[4]), whole, digits(now), first }
