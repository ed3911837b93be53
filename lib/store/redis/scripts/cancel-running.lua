-- cancel-running: ask for a running job to be cancelled. Its holder hears of it by a message, or with its next renewal; from
-- now on the job ends as cancelled, whatever its holder says, and also where its holder says nothing any more.
-- @numbered
-- @keys claims
-- @arg clustered flag: whether Redis is a cluster
-- @arg id text: job id
-- @returns wasRunning '1' | '0': 0 where the job waited, had ended or was never there
-- @include shared/clock.lua
-- @include wake/publish.lua
-- @include shared/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end

local claim = redis.call('HGET', claimsKey, id)
local fence, marks, rest, holder = string.match(claim or '', '^([1-9]%d*)(%l*)( %d+ %d+ %d+ (%S+) .*)$')
-- First a write that needs no memory: Redis only looks at the first, and a full memory must not keep a job from being cancelled.
redis.call('PEXPIRE', receiptKey, keepReceiptMs)
if fence and not string.find(marks, 'c', 1, true) then redis.call('HSET', claimsKey, id, fence .. marks .. 'c' .. rest) end
local result = fence and '1' or '0'
-- @include shared/answer.lua
if fence then publish(holder, 'cancel') end
return { 'done', digits(now), result }
