-- set-blackouts: put other blackouts in the place of those of a queue, or keep the list and compute its blackouts further ahead.
-- @numbered
-- @keys gate, blackouts, blackoutRules, sleeping
-- @arg clustered flag: whether Redis is a cluster
-- @arg rules text: the list as its caller gave it, JSON without a line break; '' = none
-- @arg version text: whose blackouts these are, as `blackouts` tells it; '' = of a new list
-- @arg windows text: "<from> <to>" of each blackout, those of the last day included (epoch ms; `to` 'inf' of the last one where more are to be computed), in order and
--   disjoint, with spaces between them
-- @arg moreAt number: when more are to be computed (epoch ms), 0 = never
-- @returns isSet '1' | '0': '0' where another list has come since that version
-- @needs shared/clock.lua
-- @include shared/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @include shared/gate.lua
-- @include shared/blackout.lua
-- @needs wake/publish.lua, wake/sleepers.lua

-- Each call of ZADD gets so many arguments: Lua cannot pass more than 8 000.
local PASSED_AT_MOST = 4000

local result = '1'
if version ~= '' and string.match(redis.call('GET', blackoutRulesKey) or '', '^%d+') ~= version then result = '0' end
local first, entries = nil, {}
for from, to in string.gmatch(windows, '(%d+) (%w+)') do
  local ends = to == 'inf' and math.huge or tonumber(to)
  if not first and ends > now then first = { from = tonumber(from), to = ends, text = from .. ' ' .. to } end
  if ends > keptFrom then
    entries[#entries + 1] = to
    entries[#entries + 1] = from .. ' ' .. to
  end
end
-- When sleepers are to look again who have seen the blackout that is on: where it ends earlier now. Else they sleep on.
local wakeAt
if result == '1' and blackout and blackout.isOn then
  local opensAt = first and first.from <= now and first.to or now
  if opensAt < blackout.to then wakeAt = opensAt end
end
local preferred = {}
if wakeAt then
  readCrews()
  if wakeAt == now then
    -- @include wake/preferred.lua
    preferred = preferredOfDue
  end
end
-- First a write that needs no memory: Redis only looks at the first, and a full memory may be why somebody sets a blackout.
redis.call('PEXPIRE', receiptKey, keepReceiptMs)
if result == '1' then
  redis.call('DEL', blackoutsKey)
  for i = 1, #entries, PASSED_AT_MOST do
    redis.call('ZADD', blackoutsKey, unpack(entries, i, math.min(i + PASSED_AT_MOST - 1, #entries)))
  end
  if rules == '' then
    redis.call('DEL', blackoutRulesKey)
  else
    redis.call('SET', blackoutRulesKey, (version == '' and digits(nowUs) or version) .. ' ' .. rules)
  end
  if entries[1] then
    redis.call('HSET', gateKey, 'blackout', copyOfBlackout(first and first.text))
  else
    redis.call('HDEL', gateKey, 'blackout')
  end
  if moreAt > 0 then
    redis.call('HSET', gateKey, 'blackoutsTendAt', digits(moreAt))
  else
    redis.call('HDEL', gateKey, 'blackoutsTendAt')
  end
end
-- @include shared/answer.lua
-- One of each: who finds more than it has room for wakes the next.
for _, crew in ipairs(wakeAt and known.crews or {}) do wakeCrew(crew, wakeAt) end
-- Whom a job prefers may be another one, and nobody else may run it yet.
for _, worker in ipairs(preferred) do publish(worker, digits(now)) end
return { 'done', digits(now), result }
