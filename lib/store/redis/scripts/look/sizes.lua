-- sizes: about how many bytes the hashes of a queue hold that may become large, by a sample of each.
-- @keys jobs, results, failures, recurrences
-- @returns ...bytes number[]: in the order of these keys
-- @repeat it only reads.
-- A sample has so many fields, or ends sooner where they are large; so does one of a table most of which is empty.
local FIELDS, MOST_BYTES, ROUNDS = 64, 262144, 256

local function sizeOf(key)
  local cursor, fields, bytes = '0', 0, 0
  for _ = 1, ROUNDS do
    local step = redis.call('HSCAN', key, cursor, 'COUNT', 1)
    for _, text in ipairs(step[2]) do bytes = bytes + #text end
    cursor, fields = step[1], fields + #step[2] / 2
    if cursor == '0' or fields >= FIELDS or bytes >= MOST_BYTES then break end
  end
  return fields == 0 and 0 or math.floor(bytes / fields * redis.call('HLEN', key))
end

return { sizeOf(jobsKey), sizeOf(resultsKey), sizeOf(failuresKey), sizeOf(recurrencesKey) }
