-- Picks one due job of each group whose turn it is, as many as this session may claim. Read phase.
-- `picks`: units as in turn/claim/units.lua, the first ones. Of each its `group`; its turn `from` which it starts; its `lane`, and `jobs`, the first two of it with their due
-- times; `head`, its entry in `joined`, and `freed`, its entry there, nil for none. `waiting`: the units that join, picked ones too. `isTurnsEmpty`: no group has a turn under the
-- noted name. `envelopes`: those of the picked jobs. `stopped`: 'limit' where one more group may start a job.
-- @needs parts/clock.lua
-- @takes me, base, handlesKey, grouping, priority, name, lanePrefix, laneSuffix, turning, joined, jobsKey, claimsKey, activeKey, deadKey
-- @gives picks, envelopes, waiting, isTurnsEmpty
-- @changes stopped, unconfirmed
picks, waiting, isTurnsEmpty = {}, {}, false
local stream, groups, ended = {}, {}, grouping.ended
local joinedCount, endedCount = #joined, #ended / 2
for i = 1, joinedCount do groups[i] = joined[i].group end
local turns, turnsLeft = {}, {}
if joined[1] then
  -- Groups whose lanes are unseen, or which were held until now, have no turns.
  turns = turning.isNoted and redis.call('ZMSCORE', base .. 'turns:' .. priority .. ':' .. name, unpack(groups)) or {}
  turnsLeft = redis.call('ZMSCORE', base .. 'left:' .. priority, unpack(groups))
end
for i = 1, endedCount do groups[joinedCount + i] = ended[2 * i] end
-- One more than may be claimed, so that this script knows whether somebody else is to be woken.
if turning.isNoted then stream = redis.call('ZRANGE', base .. 'turns:' .. priority .. ':' .. name, 0, me.limit, 'WITHSCORES') end
isTurnsEmpty = turning.isNoted and not stream[1]
local asked = endedCount + joinedCount
for i = 1, #stream, 2 do groups[asked + (i + 1) / 2] = stream[i] end
if groups[1] then
  local holders, held = redis.call('HMGET', base .. 'holders', unpack(groups)), redis.call('ZMSCORE', base .. 'held', unpack(groups))
  local units = {}
  for i = 1, endedCount do
    -- A job that has run alone in its group, and held it until now.
    if holders[joinedCount + i] ~= ended[2 * i - 1] or held[joinedCount + i] ~= 'inf' then return { 'whole', digits(now), '' } end
  end
  for i = asked + 1, #groups do
    if holders[i] or held[i] then return { 'whole', digits(now), '' } end
    units[i - asked] = { group = groups[i], from = tonumber(stream[2 * (i - asked)]), lane = lanePrefix .. groups[i] .. laneSuffix, jobs = nil, head = nil, freed = nil, isPicked = false }
  end
  local function comesBefore(a, b)
    if a.from ~= b.from then return a.from < b.from end
    return a.group < b.group
  end
  local last, isMixed = units[me.limit + 1], false
  for i = 1, joinedCount do
    local head = joined[i]
    local freedLane = head.freed
    -- A group that is held takes no turn, but its lane is seen.
    if freedLane or not held[i] then
      if turns[i] or not freedLane and holders[i] then return { 'whole', digits(now), '' } end
      local unit = { group = head.group, from = math.max(turning.present, tonumber(turnsLeft[i] or 0)), lane = head.lane, jobs = freedLane and freedLane.jobs, head = head, freed = freedLane, isPicked = false }
      waiting[#waiting + 1] = unit
      if not last or comesBefore(unit, last) then units[#units + 1], isMixed = unit, true end
    end
  end
  if isMixed then table.sort(units, comesBefore) end
  if units[1] and redis.call('SMISMEMBER', handlesKey, name)[1] ~= 1 then return { 'whole', digits(now), 'uses' } end
  local ids, dues, limit = {}, {}, me.limit
  for i = 1, math.min(#units, limit + 1) do
    local unit = units[i]
    local group, jobs = unit.group, unit.jobs or redis.call('ZRANGE', base .. 'lane:' .. unit.lane, 0, 1, 'WITHSCORES')
    local running = redis.call('ZLEXCOUNT', base .. 'runningOfGroups', '[' .. group .. '\t', '(' .. group .. '\n')
    local isAsTold = jobs[1] and tonumber(jobs[2]) <= now and (not unit.head or unit.head.id == jobs[1])
    if not isAsTold or running ~= (unit.freed and 1 or 0) then return { 'whole', digits(now), '' } end
    if i <= limit then
      unit.jobs, unit.isPicked, picks[i], ids[i], dues[i] = jobs, true, unit, jobs[1], jobs[2]
    else
      stopped = 'limit'
    end
  end
  if picks[1] then
    -- @include turn/claim/plain-jobs.lua
  end
end
if picks[1] and not envelopes then return { 'whole', digits(now), '' } end
