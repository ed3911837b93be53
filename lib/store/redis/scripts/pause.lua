-- pause: let no worker claim anything of the queue, for so long or until somebody resumes it. What runs goes on and is settled.
-- KEYS[1] sq:{<queue>}:gate        HASH what keeps the whole queue shut: `pausedUntil` -> until when nothing is claimed (epoch ms, or 'inf')
-- KEYS[2] sq:{<queue>}:sleeping    ZSET group of workers -> until when some of it may sleep (epoch ms)
-- KEYS[3] sq:{<queue>}:receipt:<caller> STRING last call number and its answer
-- ARGV[1] key base   ARGV[2] call number   ARGV[3] deadline (epoch ms, 0 = none)   ARGV[4] how long the record is kept (ms)
-- ARGV[5] '1' on a cluster   ARGV[6] for how long (ms, or 'inf')
-- Returns {status, now, until when (epoch ms, or 'inf')}. The later of two calls holds, whichever ends first.
-- Repeating it after a lost reply: the record answers like the first time, and the pause grows no longer.
local gateKey, sleepingKey, receiptKey = unpack(KEYS, 1, 3)
local base, callNumber, deadline = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local clustered = ARGV[5] == '1'
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/wake.lua

local status, answer = answeredBefore(receiptKey, callNumber, deadline)
if status then return { status, digits(now), answer } end

local forMs = tonumber(ARGV[6])
local ends = ARGV[6] == 'inf' and 'inf' or digits(now + forMs)
if ends ~= 'inf' then readGroups() end
-- First a write that needs no memory: Redis only looks at the first, and a full memory may be why somebody pauses.
redis.call('PEXPIRE', receiptKey, ARGV[4])
redis.call('HSET', gateKey, 'pausedUntil', ends)
redis.call('SET', receiptKey, ARGV[2] .. ' ' .. ends, 'PX', ARGV[4])
-- Those who have seen a pause that ended later would sleep beyond this one.
for _, group in ipairs(groups or {}) do wakeGroup(group, now + forMs) end
return { 'done', digits(now), ends }
