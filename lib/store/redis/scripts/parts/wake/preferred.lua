-- The workers that jobs prefer which are due by `opensAt`, those of the most urgent levels first, each once.
-- @needs parts/clock.lua
-- @takes base, opensAt
-- @gives preferredOfDue
-- In how many levels, and how far in each, they are looked for.
local LEVELS_LOOKED_AT, HEADS_LOOKED_AT = 10, 20
preferredOfDue = {}
local isFound = {}
local priorities = redis.call('ZRANGE', base .. 'levels:' .. '*', '-inf', digits(opensAt), 'BYSCORE', 'LIMIT', 0, LEVELS_LOOKED_AT)
table.sort(priorities, function(a, b) return tonumber(a) < tonumber(b) end)
for _, priority in ipairs(priorities) do
  for _, head in ipairs(redis.call('ZRANGE', base .. 'heads:' .. priority .. ':*', '-inf', digits(opensAt), 'BYSCORE', 'LIMIT', 0, HEADS_LOOKED_AT)) do
    local worker = string.match(head, '\t%d+:([^:]*)')
    if worker and not isFound[worker] then
      isFound[worker], preferredOfDue[#preferredOfDue + 1] = true, worker
    end
  end
end
