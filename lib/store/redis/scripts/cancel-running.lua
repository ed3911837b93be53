-- cancel-running: ask for a running job to be cancelled. Its holder hears of it by a message, or with its next renewal; from
-- now on the job ends as cancelled, whatever its holder says, and also where its holder says nothing any more.
-- KEYS[1] sq:{<queue>}:claims      HASH job id -> claim record
-- KEYS[2] sq:{<queue>}:receipt:<caller> STRING last call number and its answer
-- ARGV[1] key base   ARGV[2] call number   ARGV[3] deadline (epoch ms, 0 = none)   ARGV[4] how long the record is kept (ms)
-- ARGV[5] job id
-- Returns {status, now, '1' | '0'}: 1 if the job was running; 0 if it waited, had ended or was never there.
-- Repeating it after a lost reply: the record answers like the first time.
local base, callNumber, deadline = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local receiptKey = KEYS[2]
-- @include parts/clock.lua
-- @include parts/call.lua

local status, answer = answeredBefore(receiptKey, callNumber, deadline)
if status then return { status, digits(now), answer } end

local id = ARGV[5]
local record = redis.call('HGET', KEYS[1], id)
local fence, marks, rest, holder = string.match(record or '', '^([1-9]%d*)(%l*)( %d+ %d+ %d+ (%S+) .*)$')
-- First a write that needs no memory: Redis only looks at the first, and a full memory must not keep a job from being cancelled.
redis.call('PEXPIRE', receiptKey, ARGV[4])
if fence and not string.find(marks, 'c', 1, true) then redis.call('HSET', KEYS[1], id, fence .. marks .. 'c' .. rest) end
redis.call('SET', receiptKey, ARGV[2] .. ' ' .. (fence and '1' or '0'), 'PX', ARGV[4])
if fence then redis.call('PUBLISH', base .. 'wake:' .. holder, 'renew') end
return { 'done', digits(now), fence and '1' or '0' }
