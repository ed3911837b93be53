-- forecast: how many waiting jobs are due between instants, those of so many lanes at a time.
-- @keys levels
-- @arg base text: what every key of the queue begins with
-- @arg from text: where to go on, '' = from the start
-- @arg costLeft count: how many counts to take at about the most
-- @tail bounds instant: instants (epoch ms), the earliest first
-- @returns next text, ...counts number[]: where to go on, '' = no lane is left; for each instant but the last how many jobs of the lanes
--   looked into are due from it on and before the next one
-- @repeat it only reads.
-- @needs look/each-lane.lua
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

-- Answers what it cost. A lane that costs more than is `left` is nil, and counted by the next call, unless it is the first of this one.
local function countLane(name, left)
  local lane = { key = base .. 'lane:' .. name }
  local all = redis.call('ZCOUNT', lane.key, first, last)
  if #counts == 1 then counts[1] = counts[1] + all end
  if #counts == 1 or all == 0 then return 1 end
  local isRead = all <= READ_AT_ONCE * #counts
  local cost = 1 + (isRead and math.ceil(all / READ_AT_ONCE) or #counts)
  if cost > left and left < costLeft then return nil end
  if isRead then
    local jobs, at = redis.call('ZRANGE', lane.key, first, last, 'BYSCORE', 'WITHSCORES'), 1
    for i = 2, #jobs, 2 do
      at = countOf(tonumber(jobs[i]), at)
      counts[at] = counts[at] + 1
    end
  else
    for i = 1, #counts do counts[i] = counts[i] + redis.call('ZCOUNT', lane.key, bounds[i], '(' .. bounds[i + 1]) end
  end
  return cost
end

local goOn = eachLane(from, last, costLeft, countLane)
return { goOn, unpack(counts) }
