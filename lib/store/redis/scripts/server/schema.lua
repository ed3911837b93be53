-- schema: which schema the data of a queue has.
-- @keys stats
-- @returns text: its number; where there is none that of a queue without sets and chains, which is noted then
-- @repeat it notes the same.
local noted = redis.call('HGET', statsKey, 'schema')
if noted then return noted end
-- A queue that is only looked at stays without a key. Where Redis refuses to write, as with a full memory, workers must go on all the same.
if redis.call('EXISTS', statsKey) == 1 then
  redis.pcall('HSET', statsKey, 'schema', PLAIN_SCHEMA)
end
return tostring(PLAIN_SCHEMA)
