-- What running jobs have reported, each under the fence of its claim: a worker that has lost its lease writes nothing.
-- A job whose claim is unconfirmed has not begun, so nothing of it counts.
-- @needs parts/claim.lua, turn/claims.lua
-- @takes decided, reports, keptHere
local claims = readClaims(reports[1])
for i = 1, reports.n do
  local id, fence, value = reports[1][i], reports[2][i], reports[3][i]
  local marks = marksOf(claims[i], fence)
  if marks and not hasMark(marks, 'u') then
    keptHere[id] = true
    decided.reported[#decided.reported + 1] = id
    decided.reported[#decided.reported + 1] = string.match(claims[i], '^[^\n]*') .. '\n' .. value
  end
end
