-- A step through a hash, or a sorted set whose scores change, in no order. A job that is there from the first step to the last is met,
-- however the set grows and shrinks meanwhile. A table that shrinks between two steps would let a scan meet jobs twice: the buckets that
-- become one were partly seen. A cursor below the size of the shrunken table never stands among such buckets, so a step ends only at one
-- that would do for a table of a sixteenth of the members.
-- @takes jobsKey, activeKey
-- @gives scanStep
local SHRINKS_TO = 16
-- A table that is nearly empty has few such cursors. A step then ends at another one rather than hold Redis up.
local ROUNDS = 400

-- Appends members, and behind each its value, to `found`; answers where to go on, '' where the walk is over.
function scanStep(isOfActive, from, size, pattern, found)
  local members = isOfActive and redis.call('ZCARD', activeKey) or redis.call('HLEN', jobsKey)
  local cursor, count = from == '' and '0' or from, size
  for _ = 1, ROUNDS do
    local step
    if isOfActive then
      step = redis.call('ZSCAN', activeKey, cursor, 'COUNT', count)
    else
      step = redis.call('HSCAN', jobsKey, cursor, 'MATCH', pattern, 'COUNT', count)
    end
    for _, each in ipairs(step[2]) do found[#found + 1] = each end
    cursor, count = step[1], 1
    if cursor == '0' then return '' end
    if tonumber(cursor) < members / SHRINKS_TO then break end
  end
  return cursor
end
