-- The common settlements: jobs that completed and leave nothing behind. A settlement counts only where its fence is the one in the
-- job's claim. The list holds all ids, then their fences, '' for the same as the one before.
-- `bits`: a digit for each settlement in order, '0' where the lease was lost, '1' where the settlement counts (other-settlements.lua explains the others).
-- `uncommon`: completions of jobs whose claims have marks or another fence.
-- @needs parts/untag.lua, parts/claim-text.lua
-- @takes bits, ARGV, claimsKey, endJob, grouping
-- @gives completedCount, uncommon
-- @changes listAt
uncommon = {}
completedCount = tonumber(ARGV[listAt])
if completedCount > 0 then
  local fencesFrom = listAt + completedCount
  local claims = redis.call('HMGET', claimsKey, unpack(ARGV, listAt + 1, fencesFrom))
  local fence, prefix, last, tags, group
  for i = 1, completedCount do
    local id, claim = ARGV[listAt + i], claims[i]
    local given = ARGV[fencesFrom + i]
    -- Jobs of one burst have the same claim, which has been looked at then.
    if given ~= '' or claim ~= last then
      if given ~= '' then fence, prefix = given, given .. ' ' end
      last, tags = claim, claim and string.find(claim, prefix, 1, true) == 1 and tagsOfClaim(claim)
      group = tags and grouping and groupOfClaim(claim)
    end
    if tags then
      bits[i] = '1'
      endJob(id, tags)
      if group then grouping.ended[#grouping.ended + 1], grouping.ended[#grouping.ended + 2] = id, group end
    else
      uncommon[#uncommon + 1] = { index = i, id = id, claim = claim, fence = fence }
    end
  end
  listAt = fencesFrom + completedCount
end
listAt = listAt + 1
