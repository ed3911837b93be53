-- heads: the first jobs of lanes, earliest first, of many priority levels at once.
-- @node levels
-- @arg base text: what every key of the queue begins with
-- @arg from text: from which due time, as ZRANGE takes it
-- @arg to text: up to which due time, as ZRANGE takes it
-- @arg ofLevel count: the most heads of one level
-- @arg left count: the most heads of all levels
-- @arg passOver count: how many heads of the first level to pass over
-- @tail levels level: levels, as the keys of their heads end, "<priority>" or "<priority>:<ending>"
-- @returns isCut '1' | '0', ...found text[][]: whether the last of the levels read may have more heads; then for each level that was
--   read its heads, a due time (epoch ms) behind each
-- @repeat it only reads.
local found = { '0' }
for i = levelsFrom, #ARGV do
  local count = math.min(left, ofLevel - passOver)
  local headsKey = base .. 'heads:' .. ARGV[i]
  -- By rank: with BYSCORE and LIMIT, Redis would walk through all that are passed over.
  local there, heads = redis.call('ZCOUNT', headsKey, from, to), {}
  if there > passOver then
    local first = passOver
    if from ~= '-inf' then first = first + redis.call('ZCARD', headsKey) - redis.call('ZCOUNT', headsKey, from, '+inf') end
    heads = redis.call('ZRANGE', headsKey, first, first + math.min(count, there - passOver) - 1, 'WITHSCORES')
  end
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
