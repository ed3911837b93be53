-- A step through a hash, or through the active jobs, whose scores change, in no order. A job that is there from the first step to the last is met,
-- however the set grows and shrinks meanwhile. A table that shrinks between two steps would let a scan meet jobs twice: the buckets that
-- become one were partly seen. A cursor below the size of the shrunken table never stands among such buckets, so a step ends only at one
-- that would do for a table of a 64th of the members: a safe one. So large is the table of a 64th of the jobs in Redis, and that of an eighth
-- of them in Valkey, where up to seven jobs share a bucket. Between two safe ones there are some 64 jobs, which may be more bytes than a
-- script may read. Then a step ends at another cursor, with a '~' behind it, and the caller keeps the ids that it was told since the last safe
-- one: these are all that may be met again.
-- @takes activeKey
-- @gives scanStep
local SHRINKS_TO = 64
-- A table that is nearly empty has few safe cursors. A step then ends at another one rather than hold Redis up.
local ROUNDS = 400

local function scan(hashKey, cursor, count)
  if hashKey == activeKey then return redis.call('ZSCAN', activeKey, cursor, 'COUNT', count) end
  -- Without MATCH: Redis would copy the values that it leaves out, too, and nobody could count their bytes.
  return redis.call('HSCAN', hashKey, cursor, 'COUNT', count)
end

-- Appends members, and behind each its value, to `found`. `most`: after how many bytes of these a step ends, wherever that is; after half of them
-- it ends at the next safe cursor. Answers where to go on, '' where the walk is over, how many were looked at, and how many bytes that took.
function scanStep(hashKey, from, size, most, found)
  local members = hashKey == activeKey and redis.call('ZCARD', activeKey) or redis.call('HLEN', hashKey)
  local cursor, isUnsafe = string.match(from, '^(%d*)(~?)$')
  if cursor == '' then cursor = '0' end
  -- From an unsafe cursor only to the next safe one, so that the caller has few ids to keep.
  local left = isUnsafe == '' and size or 1
  -- One at first, and more while they are small: what a scan answers is copied before anybody can see how large it is.
  local count, asked, bytes = 1, 0, 0
  -- A scan answers more than it is asked for where several share a bucket, and less where buckets are empty.
  local function looked() return math.max(asked, #found / 2) end
  for _ = 1, ROUNDS do
    local step = scan(hashKey, cursor, count)
    for _, each in ipairs(step[2]) do
      found[#found + 1] = each
      bytes = bytes + #each
    end
    cursor, asked, left = step[1], asked + count, left - count
    if cursor == '0' then return '', looked(), bytes end
    local isSafe = tonumber(cursor) < members / SHRINKS_TO
    if isSafe and (left <= 0 or 2 * bytes > most) then return cursor, looked(), bytes end
    if bytes > most then break end
    local affordable = math.floor((most / 2 - bytes) * asked / math.max(1, bytes))
    count = math.max(1, math.min(2 * count, left, affordable))
  end
  return cursor .. '~', looked(), bytes
end
