-- The handlers of this session that have a weight or a limit of their own.
-- `handlers`: job name -> `weight` of a run, and `free`, how many more may run here; nil where no name has one of its own.
-- @takes nextList
-- @gives handlers
local names = nextList(3)
for i = 1, names.n do
  handlers = handlers or {}
  handlers[names[1][i]] = { weight = tonumber(names[2][i]), free = tonumber(names[3][i]) }
end
