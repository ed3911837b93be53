-- heads: the first jobs of lanes, earliest first, of many priority levels at once.
-- KEYS[1] sq:{<queue>}:levels      ZSET priority -> earliest due (epoch ms; named so that a cluster asks the right node; not read)
-- ARGV[1] key base   ARGV[2] from and   ARGV[3] up to which due time, as ZRANGE takes them
-- ARGV[4] the most heads of one level   ARGV[5] the most heads of all levels   ARGV[6] how many heads of the first level to pass over
-- ARGV[7…] levels, as the keys of their heads end: "<priority>" or "<priority>:<ending>"
-- Returns {'1' where the last of the levels read may have more heads, else '0', then for each level that was read {head, due (epoch ms)…}}.
-- Repeating it: it only reads.
local base, from, to = ARGV[1], ARGV[2], ARGV[3]
local ofLevel, left, passOver = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local found = { '0' }
for i = 7, #ARGV do
  local count = math.min(left, ofLevel - passOver)
  local headsKey = base .. 'heads:' .. ARGV[i]
  local heads = redis.call('ZRANGE', headsKey, from, to, 'BYSCORE', 'LIMIT', passOver, count, 'WITHSCORES')
  found[#found + 1] = heads
  if #heads / 2 == count and passOver + count < ofLevel then
    found[1] = '1'
    break
  end
  -- A level without heads costs as much as one head.
  left, passOver = left - math.max(1, #heads / 2), 0
  if left <= 0 then break end
end
return found
