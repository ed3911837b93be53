-- read-events: the next entries of the stream of events, up to about what one answer has room for. An entry may be as small as one event, or
--   have 64 KiB and more, so a step is bounded by bytes: on a slow link a larger answer would come too late, and hold up other calls.
-- @keys events
-- @arg from text: the id of the first entry, or '(' and the id of the entry before it; '-' = the oldest
-- @returns more '1' | '0', ...entries text[]: 1 if there may be further entries; three for each entry: id, head, events (see add-events.lua)
-- @repeat it only reads.
local BYTES_A_CALL, ENTRIES_A_CALL = 262144, 500
-- So few at a time that a page of large ones is not much beyond the limit.
local PAGE = 4

local entries, bytes, more = {}, 0, '0'
for _ = 1, ENTRIES_A_CALL / PAGE do
  local page = redis.call('XRANGE', eventsKey, from, '+', 'COUNT', PAGE)
  for _, entry in ipairs(page) do
    local id, fields = entry[1], entry[2]
    -- An entry of somebody else may have other fields.
    local events = fields[4] or ''
    for _, text in ipairs({ id, fields[2], events }) do entries[#entries + 1] = text end
    bytes, from = bytes + #events, '(' .. id
  end
  more = #page == PAGE and '1' or '0'
  if more == '0' or bytes >= BYTES_A_CALL then break end
end
return { more, unpack(entries) }
