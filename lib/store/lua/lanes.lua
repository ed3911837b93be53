-- lanes: waiting jobs of many lanes at once, those of each lane by due time.
-- KEYS[1] sq:{<queue>}:levels      ZSET priority -> earliest due (epoch ms; named so that a cluster asks the right node; not read)
-- ARGV[1] key base   ARGV[2] jobs due later than this are read (epoch ms), '-inf' for all   ARGV[3] how many of each lane
-- ARGV[4…] for each lane its name, then how many of those jobs to pass over
-- Returns of each lane {job id, due (epoch ms)…}.
-- Repeating it: it only reads.
local base, after, count = ARGV[1], ARGV[2], tonumber(ARGV[3])
local found = {}
for i = 4, #ARGV, 2 do
  local lane = { key = base .. 'lane:' .. ARGV[i] }
  -- By place: passing over by score would walk through all that are passed over.
  local first = tonumber(ARGV[i + 1])
  if after ~= '-inf' then first = first + redis.call('ZCOUNT', lane.key, '-inf', after) end
  found[#found + 1] = redis.call('ZRANGE', lane.key, first, first + count - 1, 'WITHSCORES')
end
return found
