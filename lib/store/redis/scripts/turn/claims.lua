-- Claims as a turn reads and writes them.
-- @needs parts/clock.lua, parts/claim-text.lua
-- @takes claimsKey
-- @gives readClaims, marksOf, unheldClaim

-- The claims of these ids as they are stored; false where there is none.
function readClaims(ids)
  return ids[1] and redis.call('HMGET', claimsKey, unpack(ids)) or {}
end

-- The marks of a claim that is held under this fence, '' for none; nil where the fence is another one.
function marksOf(claim, fence)
  if not claim or string.sub(claim, 1, #fence) ~= fence then return nil end
  return string.match(claim, '^(%l*) ', #fence + 1)
end

-- The claim of a job that nobody holds. `idWasChosen`: of a dead job whose id is to be remembered.
function unheldClaim(claim)
  local text = formatClaim(claim.idWasChosen and '0r' or '0', claim.attempt, claim.crashes, digits(claim.due), '-', claim.lane, claim.tags)
  return (claim.progress or '') == '' and text or text .. '\n' .. claim.progress
end
