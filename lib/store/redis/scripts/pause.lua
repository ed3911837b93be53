-- pause: let no worker claim anything of the queue, for so long or until somebody resumes it. What runs goes on and is settled.
-- @numbered
-- @keys paused, sleeping
-- @arg clustered flag: whether Redis is a cluster
-- @arg pause ms | 'inf': for how long
-- @returns ends text: until when (epoch ms, or 'inf'); the later of two calls holds, whichever pause ends first
-- @repeat the pause grows no longer by it.
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/wake.lua
-- How much longer than the pause its key is kept.
local KEEP_PAUSED_MS = 60000

local status, answer = answeredBefore(receiptKey, callNumber, deadline)
if status then return { status, digits(now), answer } end

local forMs = tonumber(pause)
local ends = pause == 'inf' and 'inf' or digits(now + forMs)
if ends ~= 'inf' then readGroups() end
-- First a write that needs no memory: Redis only looks at the first, and a full memory may be why somebody pauses.
redis.call('PEXPIRE', receiptKey, keepReceiptMs)
if ends == 'inf' then
  redis.call('SET', pausedKey, ends)
else
  redis.call('SET', pausedKey, ends, 'PX', digits(forMs + KEEP_PAUSED_MS))
end
redis.call('SET', receiptKey, callNumber .. ' ' .. ends, 'PX', keepReceiptMs)
-- Those who have seen a pause that ended later would sleep beyond this one.
for _, group in ipairs(groups or {}) do wakeGroup(group, now + forMs) end
return { 'done', digits(now), ends }
