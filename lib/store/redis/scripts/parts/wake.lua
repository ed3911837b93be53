-- Workers that handle the same names are a group. An idle worker stands in its group's `sleepers` with the time at
-- which it will look again. When a lane's head moves forward, one sleeper of each group that handles the name is told
-- by a message on its own channel, and a second one half a second later in case the first is dead. A sleeper that
-- looks early enough anyway is not told. So the cost of a due job does not grow with the number of idle workers.
-- Where handlers have limits of their own, the group's name ends in 'l', and `full:<worker>` says which names a sleeper cannot
-- run for that, between line breaks: for those it is passed over.
-- `sleeping` says until when a group may have sleepers, so that a group without sleepers costs nothing.
-- Needs `base`, `sleepingKey` and `clustered`; to wake for lanes, `stealAfterMs` and the part envelope.
-- @include parts/handles.lua
local DEPUTY_MS = 500
-- How long a sleeper that has been told counts as on its way.
local ON_ITS_WAY_MS = 50
-- `groups`: those that may have sleepers; `ownGroup`: that of the worker whose turn this is. Read phase: `readGroups` reads the sleepers
-- of all groups, `readOwnGroup` those of the own group, `readWakers` those of the groups that handle a name.
local groups, ownGroup, readGroups, readOwnGroup, readWakers
do
  -- One, its deputy, and three more in case some have died without a word.
  local SLEEPERS_READ = 5

  local function openGroup(name)
    return { name = name, key = base .. 'sleepers:' .. name, handles = {} }
  end

  local function readSleepers(group, self)
    if group.sleepers then return end
    group.sleepers = {}
    local found = redis.call('ZRANGE', group.key, digits(now - ON_ITS_WAY_MS), '+inf', 'BYSCORE', 'LIMIT', 0, SLEEPERS_READ, 'WITHSCORES')
    for i = 1, #found, 2 do
      if found[i] ~= self then
        local full = string.sub(group.name, -1) == 'l' and redis.call('GET', base .. 'full:' .. found[i]) or ''
        group.sleepers[#group.sleepers + 1] = { id = found[i], at = tonumber(found[i + 1]), full = full }
      end
    end
  end

  local function listGroups(selfGroup)
    if groups then return end
    groups = {}
    for _, name in ipairs(redis.call('ZRANGE', sleepingKey, digits(now - ON_ITS_WAY_MS), '+inf', 'BYSCORE')) do
      local group = name == selfGroup and ownGroup or openGroup(name)
      if name == selfGroup then ownGroup = group end
      groups[#groups + 1] = group
    end
  end

  function readGroups(selfGroup, self)
    listGroups(selfGroup)
    for _, group in ipairs(groups) do readSleepers(group, self) end
  end

  function readOwnGroup(selfGroup, self)
    ownGroup = ownGroup or openGroup(selfGroup)
    readSleepers(ownGroup, self)
  end

  function readWakers(name, selfGroup, self)
    listGroups(selfGroup)
    for _, group in ipairs(groups) do
      if group.handles[name] == nil then
        group.handles[name] = handlesName(group.name, name)
        if group.handles[name] then readSleepers(group, self) end
      end
    end
  end
end

-- Last in a script: a message cannot be taken back. Without a name one is woken whatever its handlers are full of.
local function wakeGroup(group, due, name)
  local function tell(sleeper, at)
    sleeper.at = at
    redis.call('ZADD', group.key, 'XX', digits(at), sleeper.id)
    local heard = redis.call('PUBLISH', base .. 'wake:' .. sleeper.id, digits(at))
    -- On a cluster PUBLISH counts only the listeners of this node, so silence there proves nothing.
    if heard == 0 and not clustered then
      redis.call('ZREM', group.key, sleeper.id)
      return false
    end
    return true
  end

  local at = math.max(due, now)
  local told = false
  for _, sleeper in ipairs(group.sleepers) do
    if name and string.find(sleeper.full, '\n' .. name .. '\n', 1, true) then
      -- Nothing for that one.
    elseif not told then
      -- Already awake in time: no message, but still wake a deputy in case it has died.
      told = sleeper.at <= at or tell(sleeper, at)
    else
      if sleeper.at > at + DEPUTY_MS then tell(sleeper, at + DEPUTY_MS) end
      break
    end
  end
  table.sort(group.sleepers, function(a, b) return a.at < b.at end)
end

-- For a lane whose head has moved. A preferred worker is told for when its job is due, the others for when they may steal it; but
-- where nobody hears that worker's messages it is gone. `self` is the worker whose turn this is, if it is a turn.
local function wakeLane(lane, skipOwn, self)
  local function wake(name, due, skipOwn)
    for _, group in ipairs(groups) do
      if group.handles[name] and not (group == ownGroup and skipOwn) then wakeGroup(group, due, name) end
    end
  end

  local preferred, due = preferredOf(lane.name), tonumber(lane.headDue)
  if preferred ~= '' then
    local heard = 1
    if preferred ~= self then heard = redis.call('PUBLISH', base .. 'wake:' .. preferred, digits(math.max(due, now))) end
    if heard > 0 or clustered then due = due + stealAfterMs end
  end
  wake(nameOf(lane.name), due, skipOwn)
end
