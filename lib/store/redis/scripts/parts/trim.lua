-- What is kept only up to a number or an age: dead jobs, completed jobs, ids of ended jobs.
-- Dead jobs that had to make room, as pairs of id and name.
local dropped = {}
local idle = not picked[1]
if idle or died > 0 or usedIds[1] or (gone[1] and keepCompleted.count > 0) then
  local keepDead = { count = tonumber(ARGV[18]), ageMs = tonumber(ARGV[19]) }
  -- How many more are dropped a turn than it adds, to keep the script short.
  local TRIMMED_A_TURN = 100
  local function oldest(key, keep, added)
    local over = redis.call('ZCARD', key) - keep.count
    if over > 0 then return redis.call('ZRANGE', key, 0, math.min(over, added + TRIMMED_A_TURN) - 1) end
    if keep.ageMs == 0 then return {} end
    return redis.call('ZRANGE', key, '-inf', digits(now - keep.ageMs), 'BYSCORE', 'LIMIT', 0, added + TRIMMED_A_TURN)
  end

  local remembered = {}
  local function noteDropped(ids)
    for i, record in ipairs(readRecords(ids)) do
      local r = record and parseRecord(record)
      if r and hasMark(r.marks, 'r') and keepIdsMs > 0 then
        remembered[#remembered + 1] = digits(now + keepIdsMs)
        remembered[#remembered + 1] = ids[i]
      end
      dropped[#dropped + 1] = ids[i]
      dropped[#dropped + 1] = r and nameOf(r.lane) or ''
      if r then untagJob(ids[i], r.tags) end
    end
  end

  if idle or died > 0 then
    local ids = oldest(deadKey, keepDead, died)
    if ids[1] then
      noteDropped(ids)
      redis.call('ZREM', deadKey, unpack(ids))
      redis.call('HDEL', jobsKey, unpack(ids))
      redis.call('HDEL', claimsKey, unpack(ids))
      redis.call('HDEL', failuresKey, unpack(ids))
      redis.call('HINCRBY', statsKey, 'deadDropped', #ids)
      if remembered[1] then redis.call('ZADD', usedIdsKey, unpack(remembered)) end
    end
  end
  if idle or (gone[1] and keepCompleted.count > 0) then
    local ids = oldest(completedKey, keepCompleted, #gone)
    if ids[1] then
      redis.call('ZREM', completedKey, unpack(ids))
      redis.call('HDEL', resultsKey, unpack(ids))
    end
  end
  if idle or usedIds[1] or remembered[1] then
    local limit = (#usedIds + #remembered) / 2 + TRIMMED_A_TURN
    local ids = redis.call('ZRANGE', usedIdsKey, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, limit)
    if ids[1] then redis.call('ZREM', usedIdsKey, unpack(ids)) end
    -- More ids may be over: look again at once, as an idle worker would otherwise come back only in seconds.
    if idle and #ids == limit then lookAgain = true end
  end
end
