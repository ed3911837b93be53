-- Jobs that this turn settles, extends or renews: it must not recover them, however late they are, and settles each once.
-- `keptHere`: ids of all of these. `settledHere`: ids among the settlements.
-- @takes decided
-- @gives keptHere, settledHere, endsHere
local endedIds = decided.endedIds
keptHere, settledHere = {}, {}

local noted = 0
-- True if this turn already settles the job; a renewal of it in the same turn is then ignored. Seldom asked, so the ended ones are
-- only then put into a table.
function endsHere(id)
  for i = noted + 1, #endedIds do settledHere[endedIds[i]] = true end
  noted = #endedIds
  return settledHere[id]
end
