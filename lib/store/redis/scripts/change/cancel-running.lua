-- cancel-running: ask for a running job to be cancelled. Its holder hears of it by a message, or with its next renewal; from
-- now on the job ends as cancelled, whatever its holder says, and also where its holder says nothing any more.
-- @numbered
-- @keys claims
-- @given clustered
-- @arg id text: job id
-- @returns wasRunning '1' | '0': 0 where the job waited, had ended or was never there
-- @needs parts/clock.lua, parts/wake/publish.lua, parts/claim.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end

local text = redis.call('HGET', claimsKey, id) or ''
local claim = parseClaim(text)
-- Nobody holds a job whose fence is 0.
local isRunning = claim and claim.fence ~= '0'
-- First a write that needs no memory: Redis only looks at the first, and a full memory must not keep a job from being cancelled.
redis.call('PEXPIRE', receiptKey, keepReceiptMs)
if isRunning and not hasMark(claim.marks, 'c') then redis.call('HSET', claimsKey, id, remarked(text, '', 'c')) end
local result = isRunning and '1' or '0'
-- @include parts/answer.lua
if isRunning then publish(claim.holder, 'cancel') end
return { 'done', digits(now), result }
