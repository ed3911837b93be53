-- Frees the groups of jobs that leave their places in this turn, by a settlement or because their leases have run out, and the groups that were
-- held until now. Under `'fifo'` a holder that goes back holds its group until it is due; one that ends holds it no longer.
-- @needs parts/clock.lua, parts/envelope.lua, parts/lanes.lua
-- @takes me, decided, base, servedKey, grouping, leaving, runsJobs, stateOf, freeGroup
-- How many groups a turn frees because their time has come, and how many it looks at where the clock went back.
local FREED_A_TURN, LOOKED_AT_A_TURN = 100, 1000

local leavers = {}
-- `backAt`: when a job that goes back is due; nil for one that ends.
local function leave(id, group, backAt, laneName)
  local member = group .. '\t' .. id
  leaving[member], ofGroups.running[member] = backAt or true, false
  leavers[#leavers + 1] = { id = id, group = group, backAt = backAt, laneName = laneName }
end

local ended = grouping.ended
for i = 1, #ended, 2 do leave(ended[i], ended[i + 1]) end
for _, s in ipairs(decided.settlements) do
  local claim = s.claim
  local group = claim and claim.lane and groupOf(claim.lane)
  if group and s.transition == 'retry' then
    leave(s.id, group, now + s.first, claim.lane)
  elseif group and s.transition == 'snooze' then
    leave(s.id, group, s.first > 0 and s.first or now - s.first, claim.lane)
  elseif group then
    leave(s.id, group, s.transition == 'release' and claim.due or nil)
  end
end
for _, s in ipairs(decided.returning) do
  local group = groupOf(s.claim.lane)
  if group then leave(s.id, group, s.claim.due) end
end

local groupsLeft = {}
for i, job in ipairs(leavers) do groupsLeft[i] = job.group end
-- `ask`: answers for the portion of these groups that begins there.
local function askAll(ask)
  local answers = {}
  for i = 1, #groupsLeft, PORTION do
    for _, answer in ipairs(ask(i)) do answers[#answers + 1] = answer end
  end
  return answers
end
local areHeld = redis.call('ZCARD', base .. 'held') > 0
local areHolders = leavers[1] and redis.call('EXISTS', base .. 'holders') == 1
local holders = areHolders and askAll(function(i) return redis.call('HMGET', base .. 'holders', portion(groupsLeft, i)) end) or {}
local heldUntil = areHeld and askAll(function(i) return redis.call('ZMSCORE', base .. 'held', portion(groupsLeft, i)) end) or {}
for i, job in ipairs(leavers) do
  local group = job.group
  local holds = holders[i] == job.id
  if holds and not job.backAt then ofGroups.holders[group] = false end
  if areHeld and ofGroups.held[group] == nil then
    local ends = heldUntil[i]
    if ends == 'inf' and holds and job.backAt and job.backAt > now then
      ofGroups.held[group] = job.backAt
      -- Sleepers are to look when the job is due, which need not be the first of its lane.
      local lane = openedLanes[job.laneName]
      if lane then lane.isFreed, lane.freeAt = true, job.backAt end
    elseif ends == 'inf' then
      freeGroup(group)
    end
  end
end

if areHeld then
  local heldKey, served = base .. 'held', redis.call('GET', servedKey) or ''
  local endsAt, kept = string.match(served, '\t(%d+) (%d+)$')
  if tonumber(string.match(served, '^%d+') or 0) > now then endsAt, kept = '0', 0 end
  if endsAt then
    -- The clock went back, so the time until which a group is held may lie too far ahead by as much. Turns free all these groups, in the order of
    -- their times.
    local rank = redis.call('ZCOUNT', heldKey, '-inf', '(' .. endsAt) + tonumber(kept)
    local found, looked = redis.call('ZRANGE', heldKey, rank, rank + LOOKED_AT_A_TURN - 1, 'WITHSCORES'), {}
    for i = 1, #found, 2 do
      local group, ends = found[i], found[i + 1]
      -- The rest waits for the end of a job, or for somebody who resumes it.
      if tonumber(ends) >= ENDLESS then break end
      if ofGroups.held[group] == nil then freeGroup(group) end
      if ends ~= endsAt then endsAt, kept, looked = ends, 0, {} end
      looked[#looked + 1] = group
    end
    local lastEnds = found[2 * LOOKED_AT_A_TURN]
    if lastEnds and tonumber(lastEnds) < ENDLESS then
      decided.looksAgain, grouping.looked = true, { endsAt = tonumber(endsAt), kept = tonumber(kept), groups = looked }
    end
  else
    local due = redis.call('ZRANGE', heldKey, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, FREED_A_TURN)
    for _, group in ipairs(due) do
      if ofGroups.held[group] == nil then freeGroup(group) end
    end
    if #due == FREED_A_TURN then decided.looksAgain = true end
  end
  -- Workers also hold groups that have no place or wait for their holder. Neither keeps a relay from moving their jobs.
  if not runsJobs and me.limit > 0 then
    for _, group in ipairs(redis.call('ZRANGE', heldKey, 0, FREED_A_TURN - 1, 'REV')) do
      if ofGroups.held[group] == nil and stateOf(group).free > 0 then freeGroup(group) end
    end
  end
  local first = redis.call('ZRANGE', heldKey, '(' .. digits(now), '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
  grouping.nextFreeAt = tonumber(first[2] or math.huge)
  for _, ends in pairs(ofGroups.held) do grouping.nextFreeAt = math.min(grouping.nextFreeAt, ends or math.huge) end
end
