-- Reads the lists at the end of the arguments: each begins with its length, and then has so many fields for each item.
-- `listAt`: where the next list begins.
-- @takes ARGV, completedFrom
-- @gives listAt, nextList
listAt = completedFrom

-- Most lists are empty. Nobody writes into their columns.
local NONE = {}
local EMPTY = { n = 0, NONE, NONE, NONE, NONE, NONE }

-- A list as columns: `n` items, and one array for each field.
function nextList(width)
  if ARGV[listAt] == '0' then
    listAt = listAt + 1
    return EMPTY
  end
  local n, from = tonumber(ARGV[listAt]), listAt
  local list = { n = n }
  for field = 1, width do
    local column = {}
    for i = 1, n do column[i] = ARGV[from + (i - 1) * width + field] end
    list[field] = column
  end
  listAt = from + n * width + 1
  return list
end
