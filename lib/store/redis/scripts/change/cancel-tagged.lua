-- cancel-tagged: take the next jobs that carry a tag, and wait or are queued behind running ones, out of their queue for good.
-- @numbered
-- @keys jobs, claims, failures, queued, stats, levels, sleeping, tag:<tag>
-- @arg from text: the index in the tag after which to begin, '0' = at the first
-- @arg last text: the last index to look at, '' = that of the last job there is now
-- @arg began epoch ms: when the first step was taken, 0 = now
-- @arg limit count: how many jobs to look at at the most
-- @given clustered, settings.stealAfterMs, settings.keepEnded
-- @returns result text, ...completions text[]: "<index after which to go on> <last index> <when the first step was taken>" and, a tab before each, the ids of the cancelled jobs, in the order in which they came by the tag. Then as of cancel.lua
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @needs change/cancel-waiting.lua, change/tagged.lua, parts/endings.lua

local step = readTagged(from, last, began, limit)
for _, job in ipairs(step.waiting) do
  cancelWaiting(job.id, job.envelope, job.lane)
  noteEnding(job.id, job.envelope, job.due, '"cancelTagged"')
end
for _, job in ipairs(step.queued) do cancelQueued(job.id, job.queued, job.envelope) end
-- The first write needs no memory: Redis checks its memory only at the first one, and a full memory must not keep jobs from being cancelled.
redis.call('PEXPIRE', receiptKey, keepReceiptMs)
writeCancelled()
writeEndings()
local result = table.concat({ step.nextFrom .. ' ' .. step.walk, unpack(step.ids) }, '\t')
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), result, unpack(completions or {}) }
