-- Reads the lists at the end of the arguments: each begins with its length, and then has so many fields for each item. Where all that are left are
-- empty, nothing is sent of them.
-- `listAt`: where the next list begins.
-- @takes ARGV, completedFrom
-- @gives listAt, nextList
listAt = completedFrom

-- Nobody writes into these columns.
local NONE = {}
local EMPTY = { n = 0, NONE, NONE, NONE, NONE, NONE }

-- A list as columns: `n` items, and one array for each field.
function nextList(width)
  local length, from = ARGV[listAt], listAt
  if not length then return EMPTY end
  if length == '0' then
    listAt = listAt + 1
    return EMPTY
  end
  local n = tonumber(length)
  local list = { n = n }
  for field = 1, width do
    local column = {}
    for i = 1, n do column[i] = ARGV[from + (i - 1) * width + field] end
    list[field] = column
  end
  listAt = from + n * width + 1
  return list
end
