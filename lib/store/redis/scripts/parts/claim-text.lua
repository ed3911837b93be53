-- The text of a claim (see parts/claim.lua), written, and looked into without taking it apart.
-- @gives formatClaim, groupOfClaim

function formatClaim(fence, attempt, crashes, due, holder, lane, tags)
  return fence .. ' ' .. attempt .. ' ' .. crashes .. ' ' .. due .. ' ' .. holder .. ' ' .. lane .. tags
end

-- The group in a claim; nil for none.
function groupOfClaim(text)
  return string.match(text, '^%S+ %S+ %S+ %S+ %S+ %d+:!?@([^:]*):')
end
