-- forecast: how many waiting jobs are due between instants, those of so many lanes at a time.
-- @keys levels
-- @arg base text: what every key of the queue begins with
-- @arg passOver count: how many lanes to pass over
-- @arg costLeft count: how many counts to take at about the most
-- @tail bounds instant: instants (epoch ms), the earliest first
-- @returns isWhole '1' | '0', lanes number, ...counts number[]: isWhole: no lane is left; how many were looked into; for each instant but
--   the last how many jobs of those lanes are due from it on and before the next one
-- @repeat it only reads.
-- A lane with few jobs between the instants is read: that costs less than to count between each two of them.
local READ_AT_ONCE = 3
local bounds, instants, counts = {}, {}, {}
for i = boundsFrom, #ARGV do
  bounds[#bounds + 1], instants[#instants + 1] = ARGV[i], tonumber(ARGV[i])
end
for i = 1, #bounds - 1 do counts[i] = 0 end
local first, last = bounds[1], '(' .. bounds[#bounds]

-- Of the counts from `at` on, the one that a job of this due time belongs to.
local function countOf(due, at)
  local after = #instants
  while after - at > 1 do
    local middle = math.floor((at + after) / 2)
    if due >= instants[middle] then at = middle else after = middle end
  end
  return at
end

local function countLane(name)
  local lane = { key = base .. 'lane:' .. name }
  local all = redis.call('ZCOUNT', lane.key, first, last)
  if #counts == 1 then counts[1] = counts[1] + all end
  if #counts == 1 or all == 0 then return 1 end
  if all > READ_AT_ONCE * #counts then
    for i = 1, #counts do counts[i] = counts[i] + redis.call('ZCOUNT', lane.key, bounds[i], '(' .. bounds[i + 1]) end
    return 1 + #counts
  end
  local jobs, at = redis.call('ZRANGE', lane.key, first, last, 'BYSCORE', 'WITHSCORES'), 1
  for i = 2, #jobs, 2 do
    at = countOf(tonumber(jobs[i]), at)
    counts[at] = counts[at] + 1
  end
  return 1 + math.ceil(all / READ_AT_ONCE)
end

local levels, whole, looked = {}, '1', 0
-- Lanes without a preferred worker, then all those with one, then those of suspects.
for _, ending in ipairs({ '', ':*', ':!' }) do
  local key = ending == '' and levelsKey or base .. 'levels' .. ending
  for _, priority in ipairs(redis.call('ZRANGE', key, '-inf', last, 'BYSCORE')) do
    levels[#levels + 1] = priority .. ending
  end
end
-- By name, which is the same in every call.
table.sort(levels)
for _, level in ipairs(levels) do
  local headsKey = base .. 'heads:' .. level
  local lanes = redis.call('ZCOUNT', headsKey, '-inf', last)
  if passOver >= lanes then
    passOver = passOver - lanes
  elseif costLeft <= 0 then
    whole = '0'
    break
  else
    -- By rank: with BYSCORE and LIMIT, Redis would walk through all that are passed over.
    local found = redis.call('ZRANGE', headsKey, passOver, math.min(passOver + costLeft, lanes) - 1)
    local done = 0
    for _, head in ipairs(found) do
      if costLeft <= 0 then break end
      costLeft = costLeft - countLane(string.match(head, '\t(.*)$'))
      done = done + 1
    end
    looked = looked + done
    if passOver + done < lanes then whole = '0' end
    passOver = 0
  end
end
return { whole, looked, unpack(counts) }
