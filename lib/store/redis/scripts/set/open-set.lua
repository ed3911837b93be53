-- open-set: open a set, unless there is one of that id. The queue has the schema of queues with sets from then on (see docs/upgrading.md).
-- @numbered
-- @keys stats
-- @arg id text: of the set
-- @arg keepMs ms: how long the set is remembered once it is done, 0 = not at all
-- @arg job payload: what schedules its completion job, as of parts/follow-ups.lua; '' = none
-- @returns isOpened '1' | '0', state 'o' | 'c' | 'd': 0 if there was one; and its state now: open, closed, or done
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), string.sub(earlierAnswer, 1, 1), string.sub(earlierAnswer, 2) } end

local state = redis.call('HGET', base .. 'set:' .. id, 'state')
local forgetAt = not state and redis.call('ZSCORE', base .. 'setsToForget', id)
if forgetAt and tonumber(forgetAt) > now then state = 'd' end
local isOpened = state and '0' or '1'
if not state then
  -- A key of another type stops the script here, before any write.
  redis.call('ZCARD', base .. 'sets')
  redis.call('HSET', statsKey, 'schema', SCHEMA)
  redis.call('HSET', base .. 'set:' .. id, 'state', 'o', 'openedAt', digits(now), 'keepMs', digits(keepMs), 'job', job)
  redis.call('ZADD', base .. 'sets', digits(now), id)
  state = 'o'
end
local result = isOpened .. state
-- @include parts/answer.lua
return { 'done', digits(now), isOpened, state }
