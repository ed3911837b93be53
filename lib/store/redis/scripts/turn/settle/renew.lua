-- Renewals, and the leases that a settlement has extended. A renewal of an unconfirmed job shows that its claim has arrived.
-- @needs parts/clock.lua, parts/claim.lua, turn/claims.lua
-- @takes settings, decided, report, renewals, extended, endsHere, keptHere
local renewed, confirmed = decided.renewed, decided.confirmed
local function renew(id, ms)
  keptHere[id] = true
  renewed[#renewed + 1] = digits(now + ms)
  renewed[#renewed + 1] = id
end

for _, lease in ipairs(extended or {}) do
  if not endsHere(lease.id) then renew(lease.id, lease.leaseMs) end
end

local claims = readClaims(renewals[1])
for i = 1, renewals.n do
  local id, fence = renewals[1][i], renewals[2][i]
  local marks = marksOf(claims[i], fence)
  if hasMark(marks, 'c') then report.toCancel[#report.toCancel + 1] = id end
  if hasMark(marks, 'u') then
    confirmed[#confirmed + 1] = id
    confirmed[#confirmed + 1] = fence .. string.gsub(marks, 'u', '') .. string.sub(claims[i], #fence + #marks + 1)
  end
  if marks then
    renew(id, settings.leaseMs)
  else
    report.lost[#report.lost + 1] = id
  end
end
