-- add-events: add events to the stream of the queue, as one entry, and cut off what is beyond its cap.
-- Events are numbered from 1. An entry's id is "<epoch ms>-<number of its last event>", so both ends of the stream tell how many
-- events it holds, and a reader that finds another number than the next one knows that it has missed some.
-- @numbered
-- @keys events
-- @arg count count: how many events
-- @arg maxLength count: how many of the latest events to keep; the entry in which the first of these lies is kept whole
-- @arg lines text: the events, between line breaks (see codec/event-text.ts)
-- @returns place text: the id of the entry
-- @repeat it adds nothing.
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- Readers read so long after a message (see READ_AFTER_MS in events/redis-events.ts) that one message will do for all entries
-- of this time, however many processes add them.
local QUIET_MS = 10
-- Most calls cut off as much as they add. Where they would have to cut off more, because the cap is lower than before or many small entries
-- make room for a large one, no more than this is read; the next calls go on.
local CUT_ENTRIES, CUT_BYTES = 200, 262144

local function placeOf(entry)
  local ms, number = string.match(entry[1], '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(number)
end

local lastMs, total, toldAt = 0, 0, 0
local last = redis.call('XREVRANGE', eventsKey, '+', '-', 'COUNT', 1)[1]
if last then
  lastMs, total = placeOf(last)
  toldAt = tonumber(string.match(last[2][2], ' (%d+)$')) or 0
end
-- Redis' clock may have gone back.
local ms = math.max(now, lastMs)
local result = digits(ms) .. '-' .. digits(total + count)

local cut, keptFrom, cutsSome = total + count - maxLength, result, false
if cut > 0 then
  -- Read one by one: a page of entries might be large.
  local from, bytes = '-', 0
  for _ = 1, CUT_ENTRIES do
    local entry = redis.call('XRANGE', eventsKey, from, '+', 'COUNT', 1)[1]
    keptFrom = entry and entry[1] or result
    if not entry then break end
    local _, number = placeOf(entry)
    if number > cut or bytes >= CUT_BYTES then break end
    cutsSome, from, bytes = true, '(' .. keptFrom, bytes + #(entry[2][4] or '')
  end
end
local tells = now < toldAt or now - toldAt >= QUIET_MS
-- Cut off first: where the memory is full, this entry then takes the place of earlier ones.
if cutsSome then redis.call('XTRIM', eventsKey, 'MINID', keptFrom) end
local head = digits(lastMs) .. ' ' .. digits(tells and now or toldAt)
redis.call('XADD', eventsKey, result, 'head', head, 'events', lines)
-- @include parts/answer.lua
if tells then redis.call('PUBLISH', eventsKey, '') end
return { 'done', digits(now), result }
