-- pause: let no worker claim anything of the queue, for so long or until somebody resumes it. What runs goes on and is settled.
-- @numbered
-- @keys gate, sleeping
-- @given clustered
-- @arg pause ms | 'inf': for how long
-- @returns ends text: until when (epoch ms, or 'inf'); the later of two calls holds, whichever pause ends first
-- @repeat the pause grows no longer by it.
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @needs gate/opening.lua

local opensAt = pause ~= 'inf' and now + tonumber(pause)
local result = opensAt and digits(opensAt) or 'inf'
-- Those who have seen a pause that ended later would sleep beyond this one.
if opensAt then readForOpening(opensAt) end
-- First a write that needs no memory: Redis only looks at the first, and a full memory may be why somebody pauses.
redis.call('PEXPIRE', receiptKey, keepReceiptMs)
redis.call('HSET', gateKey, 'pausedUntil', result)
-- @include parts/answer.lua
wakeForOpening()
return { 'done', digits(now), result }
