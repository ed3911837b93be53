-- next-free: when the earliest waiting job is due whose group is not held.
-- @node levels
-- @arg base text: what every key of the queue begins with
-- @arg groupsRule text: what holds for each group (see group/state.lua)
-- @tail known group: groups that earlier calls have found held, as codec/group-text.ts writes them
-- @returns nextDue text, now text, ...held text[]: '' where none waits. If a call has found as many held groups as it may, it answers them, and
--   nextDue may be that of another held one: then it is called again with them
-- @repeat it only reads.
-- @needs parts/clock.lua
local runsJobs, leaving, stateOf, readHolders = true, {}, nil, nil
-- Nothing is written.
local ofGroups = { running = {}, held = {}, holders = {} }
-- @include group/state.lua
-- So many lanes of held groups are passed over; then the next lane counts, though its group is held.
local lanesLeft = 1000
-- So many held groups one call finds: each costs some reads.
local FOUND_A_CALL = 100
local first, held, found, isCut = math.huge, {}, {}, false
for i = knownFrom, #ARGV do held[ARGV[i]] = true end

local function isHeld(head)
  local group = string.match(head, '\t%d+:!?@([^:]*):')
  if not group or held[group] ~= nil then return group and held[group] end
  isCut = isCut or #found == FOUND_A_CALL
  if isCut then return false end
  held[group] = stateOf(group).free <= 0
  if held[group] then found[#found + 1] = group end
  return held[group]
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
return { first < math.huge and digits(first) or '', digits(now), unpack(isCut and found or {}) }
