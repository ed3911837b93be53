-- The handlers of this session that have a weight or a limit of their own, or are called with several jobs at once.
-- `handlers`: job name -> `weight` of a call; `size`, how many jobs one call takes; and `free`, how many more jobs it may get here. Of a
-- handler that gets several, `free` is the room in the call that is being filled, and as many times `size` as further calls may begin; so
-- where it is a whole number of calls, the next job begins one, and the others of the call weigh nothing. nil where no name has its own.
-- @takes nextList
-- @gives handlers
local names = nextList(4)
if names.n > 0 then handlers = {} end
for i = 1, names.n do handlers[names[1][i]] = { weight = tonumber(names[2][i]), free = tonumber(names[3][i]), size = tonumber(names[4][i]) } end
