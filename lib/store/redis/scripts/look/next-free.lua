-- next-free: when the earliest waiting job is due whose group is not held.
-- @node levels
-- @arg base text: what every key of the queue begins with
-- @returns nextDue text, now text: nextDue: '' where none waits
-- @repeat it only reads.
-- @needs parts/clock.lua
-- So many lanes of held groups are passed over; then the next lane counts, though its group is held.
local lanesLeft = 1000
local first = math.huge

local function isHeld(head)
  local group = string.match(head, '\t%d+:!?@([^:]*):')
  return group and (tonumber(redis.call('ZSCORE', base .. 'held', group)) or 0) > now
end

-- Looks through the heads of a level by due time. Of a job that is not due yet it does not matter whether its group is held.
local function firstOf(level)
  for rank = 0, math.huge, 100 do
    local heads = redis.call('ZRANGE', base .. 'heads:' .. level, rank, rank + 99, 'WITHSCORES')
    for i = 1, #heads, 2 do
      local due = tonumber(heads[i + 1])
      if due >= first then return end
      if due > now or lanesLeft == 0 or not isHeld(heads[i]) then
        first = due
        return
      end
      lanesLeft = lanesLeft - 1
    end
    if #heads < 200 then return end
  end
end

-- Lanes without a preferred worker, those with one, those of suspects, and those of groups.
for _, ending in ipairs({ '', ':*', ':!', ':@' }) do
  local levels = redis.call('ZRANGE', base .. 'levels' .. ending, 0, -1, 'WITHSCORES')
  for i = 1, #levels, 2 do
    if tonumber(levels[i + 1]) >= first then break end
    firstOf(levels[i] .. ending)
  end
end
return { first < math.huge and digits(first) or '', digits(now) }
