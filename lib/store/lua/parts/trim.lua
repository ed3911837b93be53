-- What is kept only up to a number or an age: dead jobs, completed jobs, ids of ended jobs.
-- How many jobs or ids past their time are dropped a turn, to keep the script short.
local TRIMMED_A_TURN = 100

local function oldest(key, keep)
  local over = redis.call('ZCARD', key) - keep.count
  if over > 0 then return redis.call('ZRANGE', key, 0, math.min(over, TRIMMED_A_TURN) - 1) end
  if keep.ageMs == 0 then return {} end
  return redis.call('ZRANGE', key, '-inf', digits(now - keep.ageMs), 'BYSCORE', 'LIMIT', 0, TRIMMED_A_TURN)
end

local function trim()
  local idle = not picked[1]
  if died or (idle and keepDead.ageMs > 0) then
    local ids = oldest(deadKey, keepDead)
    if ids[1] then
      redis.call('ZREM', deadKey, unpack(ids))
      redis.call('HDEL', jobsKey, unpack(ids))
      redis.call('HDEL', claimsKey, unpack(ids))
      redis.call('HDEL', failuresKey, unpack(ids))
      redis.call('HINCRBY', statsKey, 'deadDropped', #ids)
    end
  end
  if (gone[1] and keepCompleted.count > 0) or (idle and keepCompleted.ageMs > 0) then
    local ids = oldest(completedKey, keepCompleted)
    if ids[1] then
      redis.call('ZREM', completedKey, unpack(ids))
      redis.call('HDEL', finishedKey, unpack(ids))
    end
  end
  if ended[1] or idle then
    local ids = redis.call('ZRANGE', endedKey, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, TRIMMED_A_TURN)
    if ids[1] then redis.call('ZREM', endedKey, unpack(ids)) end
  end
end
