-- resume: let workers claim again.
-- @numbered
-- @keys paused, sleeping
-- @arg clustered flag: whether Redis is a cluster
-- @returns wasPaused '1' | '0': whether the queue was paused
-- @include parts/clock.lua
-- @include parts/call.lua
-- @include parts/pause.lua
-- @include parts/wake.lua
-- @include parts/preferred.lua

local status, answer = answeredBefore(receiptKey, callNumber, deadline)
if status then return { status, digits(now), answer } end

local result = pausedUntil() > now and '1' or '0'
local preferred = {}
if result == '1' then
  readGroups()
  preferred = preferredOfDue()
end
redis.call('DEL', pausedKey)
redis.call('SET', receiptKey, callNumber .. ' ' .. result, 'PX', keepReceiptMs)
-- One of each: who finds more than it has room for wakes the next.
for _, group in ipairs(groups or {}) do wakeGroup(group, now) end
-- Whom a job prefers may be another one, and nobody else may run it yet.
for _, worker in ipairs(preferred) do redis.call('PUBLISH', base .. 'wake:' .. worker, digits(now)) end
return { 'done', digits(now), result }
