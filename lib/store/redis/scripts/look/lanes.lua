-- lanes: waiting jobs of many lanes at once, each lane's by due time.
-- @node levels
-- @arg base text: what every key of the queue begins with
-- @arg after text: only jobs due later than this (epoch ms), '-inf' for all
-- @arg count count: how many of each lane
-- @tail lanes name, passOver: names of lanes, and how many of those jobs to pass over
-- @returns text[][]: for each lane its jobs, a due time (epoch ms) behind each id
-- @repeat it only reads.
local found = {}
for i = lanesFrom, #ARGV, 2 do
  local lane = { key = base .. 'lane:' .. ARGV[i] }
  -- By rank: with BYSCORE and LIMIT, Redis would walk through all jobs that are passed over.
  local first = tonumber(ARGV[i + 1])
  if after ~= '-inf' then first = first + redis.call('ZCOUNT', lane.key, '-inf', after) end
  found[#found + 1] = redis.call('ZRANGE', lane.key, first, first + count - 1, 'WITHSCORES')
end
return found
