-- When the job of a `replace` is due, and since when its row has lasted.
-- A row: jobs of one id, each of which takes the place of the one before it, none of which has begun. Where one of them was given a longest
-- wait, later envelopes have the flag 'w', and the time at which the first of the row was scheduled.
-- A throttle is remembered in `usedIds`, which turns sweep, under a tab and the id: no job has such an id. Its score is the earliest due time
-- of the next new job, and THROTTLED_LONGER_MS more.
-- @needs parts/clock.lua, parts/envelope.lua
-- @takes usedIdsKey, failuresKey, id, dueOrDelay, maxWaitMs, throttleMs
-- @gives whenOf, writeThrottle
local throttled = '\t' .. id
-- More than a call adds, so that the memory shrinks also where no turn is ever idle.
local SWEPT_A_CALL = 10

-- A waiting job has begun before where it has a claim that was not written for a job that took the place of another one, or where it
-- was replayed, which leaves the failures of a dead job.
local function hasBegun(job)
  if job.claim == '' then return redis.call('HEXISTS', failuresKey, id) == 1 end
  return job.claim and not string.find(job.claim, '^%d+%l*n')
end

-- `before`: the waiting or queued job whose place the new one takes, with its claim where it waits; nil where the new one takes no place.
-- Answers when the new job is due, and how the second line of its envelope begins: with the time since when its row has lasted.
function whenOf(before)
  local due, rowFrom = dueOrDelay > 0 and dueOrDelay or now - dueOrDelay, now
  local isBounded = maxWaitMs >= 0
  if before and (isBounded or hasFlag(before.envelope, 'w')) and not hasBegun(before) then
    isBounded, rowFrom = true, tonumber(string.match(before.envelope, '^[^\n]*\n(%d+)')) or now
  end
  if maxWaitMs >= 0 then due = math.min(due, rowFrom + maxWaitMs) end
  if throttleMs >= 0 then
    local forgetAt = not before and tonumber(redis.call('ZSCORE', usedIdsKey, throttled) or 0) or 0
    if before then
      due = before.due
    elseif forgetAt > now then
      due = math.min(math.max(due, forgetAt - THROTTLED_LONGER_MS), LAST_INSTANT_MS)
    end
  end
  return due, digits(rowFrom) .. (isBounded and ' w' or ' ')
end

-- Notes when a new job is due, where it has a throttle. Not the first write of the script, which a full memory refuses whole; and before
-- `usedIds` may be emptied.
function writeThrottle(due)
  local forgetAt = due + throttleMs + THROTTLED_LONGER_MS
  if throttleMs < 0 or forgetAt <= now then return end
  redis.call('ZADD', usedIdsKey, digits(forgetAt), throttled)
  local over = redis.call('ZRANGE', usedIdsKey, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, SWEPT_A_CALL)
  if over[1] then redis.call('ZREM', usedIdsKey, unpack(over)) end
end
