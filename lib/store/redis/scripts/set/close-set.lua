-- close-set: close a set: it is done once none of its members is pending, which may be at once.
-- @numbered
-- @keys jobs, stats, levels, sleeping
-- @given clustered, settings.stealAfterMs
-- @arg id text: of the set
-- @returns isClosed '1' | '0', ...completions text[]: 0 if there is none, or it was closed before; three for its completion job, if it is done: id, name, when it is due
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @needs parts/untag.lua, parts/lanes.lua, parts/wake/sleepers.lua, parts/wake/publish.lua

local isOpen = redis.call('HGET', base .. 'set:' .. id, 'state') == 'o'
local writeFollowUps, completions
if isOpen then
  local name, steps = '\31' .. id, nil
  leftSets = { { name = name, key = base .. 'members:' .. id, removed = {}, hows = {}, left = 0, isClosing = true } }
  -- @include parts/follow-ups.lua
  readLevels()
  -- The first write needs no memory: Redis checks its memory only at the first one, and a full memory must not keep a set from being done.
  redis.call('PEXPIRE', receiptKey, keepReceiptMs)
  writeFollowUps()
  closeLanes()
end
local result = isOpen and '1' or '0'
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), result, unpack(completions or {}) }
