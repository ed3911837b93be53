-- Reads recurrences with their states, as entries in the order of `ids`; `rule` or `state` is nil where there is none, or none that can be read.
-- @needs recur/record.lua
-- @takes base
-- @gives readEntries
function readEntries(ids)
  local entries = {}
  if not ids[1] then return entries end
  local records = redis.call('HMGET', base .. 'recurrences', unpack(ids))
  for i, text in ipairs(redis.call('HMGET', base .. 'timetable', unpack(ids))) do
    local record = records[i]
    entries[i] = { id = ids[i], text = record, rule = record and parseRecord(record), state = text and parseState(text) }
  end
  return entries
end
