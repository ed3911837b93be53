-- Keeps what has become of jobs that were discarded or cancelled: `ended` holds id -> when, `endings` id -> "<d or c> <attempts> <due>
-- <reason, as JSON>", a line break, and the envelope without its payload. Then drops the oldest that are too many, or too old.
-- `endings`: id and text of each job, none where this only drops. `settings.keepEnded`: "<count> <age in ms, 0 = any>", '' = none are kept.
-- @needs parts/clock.lua
-- @takes settings, base, endings
-- How many more are dropped a call than it adds, to keep the script short.
local DROPPED_A_CALL = 100
local endedKey, endingsKey = base .. 'ended', base .. 'endings'
local count, ageMs = string.match(settings.keepEnded, '^(%d+) (%d+)$')
count, ageMs = tonumber(count or 0), tonumber(ageMs or 0)
local there = redis.call('ZCARD', endedKey)
if endings[1] then
  -- A key of another type stops the script here, before the first write.
  redis.call('HLEN', endingsKey)
  local times = {}
  for i = 1, #endings, 2 do times[i], times[i + 1] = digits(now), endings[i] end
  there = there + redis.call('ZADD', endedKey, unpack(times))
  redis.call('HSET', endingsKey, unpack(endings))
end
local ids, most = {}, #endings / 2 + DROPPED_A_CALL
if there > count then
  ids = redis.call('ZRANGE', endedKey, 0, math.min(there - count, most) - 1)
elseif there > 0 and ageMs > 0 then
  ids = redis.call('ZRANGE', endedKey, '-inf', digits(now - ageMs), 'BYSCORE', 'LIMIT', 0, most)
end
if ids[1] then
  redis.call('ZREM', endedKey, unpack(ids))
  redis.call('HDEL', endingsKey, unpack(ids))
end
