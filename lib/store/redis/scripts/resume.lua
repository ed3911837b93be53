-- resume: let workers claim again.
-- KEYS[1] sq:{<queue>}:gate        HASH what keeps the whole queue shut: `pausedUntil` -> until when nothing is claimed (epoch ms, or 'inf')
-- KEYS[2] sq:{<queue>}:sleeping    ZSET group of workers -> until when some of it may sleep (epoch ms)
-- KEYS[3] sq:{<queue>}:receipt:<caller> STRING last call number and its answer
-- ARGV[1] key base   ARGV[2] call number   ARGV[3] deadline (epoch ms, 0 = none)   ARGV[4] how long the record is kept (ms)
-- ARGV[5] '1' on a cluster
-- Returns {status, now, '1' | '0'}: 1 if the queue was paused.
-- Repeating it after a lost reply: the record answers like the first time.
local gateKey, sleepingKey, receiptKey = unpack(KEYS, 1, 3)
local base, callNumber, deadline = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local clustered = ARGV[5] == '1'
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/wake.lua
-- @include parts/preferred.lua

local status, answer = answeredBefore(receiptKey, callNumber, deadline)
if status then return { status, digits(now), answer } end

-- @include shared/gate.lua
local result = pausedUntil > now and '1' or '0'
local preferred = {}
if result == '1' then
  readGroups()
  preferred = preferredOfDue()
end
redis.call('HDEL', gateKey, 'pausedUntil')
redis.call('SET', receiptKey, ARGV[2] .. ' ' .. result, 'PX', ARGV[4])
-- One of each: who finds more than it has room for wakes the next.
for _, group in ipairs(groups or {}) do wakeGroup(group, now) end
-- Whom a job prefers may be another one, and nobody else may run it yet.
for _, worker in ipairs(preferred) do redis.call('PUBLISH', base .. 'wake:' .. worker, digits(now)) end
return { 'done', digits(now), result }
