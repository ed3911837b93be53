-- pause-group: let no job of a group be claimed or moved, for so long or until it is resumed. Jobs that run go on and are settled.
-- @numbered
-- @keys sleeping
-- @given clustered
-- @arg group text: the group, as codec/group-text.ts writes it
-- @arg pause ms | 'inf': for how long
-- @returns ends text: until when (epoch ms, or 'inf'); the later of two calls holds
-- @repeat the pause grows no longer by it.
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @needs gate/opening.lua
local leaveTurns
-- @include group/leave-turns.lua

local opensAt = pause == 'inf' and ENDLESS or now + tonumber(pause)
-- Sleepers that have seen a pause with a later end would sleep beyond the end of this one.
if pause ~= 'inf' then readForOpening(opensAt) end
-- The first write needs no memory: Redis checks its memory at the first one only, and a full memory may be why somebody pauses.
redis.call('PEXPIRE', receiptKey, keepReceiptMs)
redis.call('ZREMRANGEBYSCORE', base .. 'groupPauses', '-inf', digits(now))
redis.call('ZADD', base .. 'groupPauses', digits(opensAt), group)
redis.call('ZADD', base .. 'held', digits(opensAt), group)
leaveTurns(group, '', {})
local result = pause == 'inf' and 'inf' or digits(opensAt)
-- @include parts/answer.lua
wakeForOpening()
return { 'done', digits(now), result }
