-- lanes: waiting jobs of many lanes at once, each lane's by due time.
-- KEYS[1] sq:{<queue>}:levels      ZSET priority -> earliest due (epoch ms; named so that a cluster asks the right node; not read)
-- ARGV[1] key base   ARGV[2] only jobs due later than this (epoch ms), '-inf' for all   ARGV[3] how many of each lane
-- ARGV[4…] two for each lane: its name, how many of those jobs to pass over
-- Returns {job id, due (epoch ms)…} for each lane.
-- Repeating it: it only reads.
local base, after, count = ARGV[1], ARGV[2], tonumber(ARGV[3])
local found = {}
for i = 4, #ARGV, 2 do
  local lane = { key = base .. 'lane:' .. ARGV[i] }
  -- By rank: with BYSCORE and LIMIT, Redis would walk through all jobs that are passed over.
  local first = tonumber(ARGV[i + 1])
  if after ~= '-inf' then first = first + redis.call('ZCOUNT', lane.key, '-inf', after) end
  found[#found + 1] = redis.call('ZRANGE', lane.key, first, first + count - 1, 'WITHSCORES')
end
return found
