-- Sessions that handle the same names are a group. An idle session stands in its group's `sleepers` with the time at which it will look
-- again. When a lane's head moves forward, one sleeper of each group that handles the name is told by a message on its own channel, and
-- a deputy half a second later in case the first one is dead. A sleeper that looks early enough anyway is not told. So the cost of a
-- due job does not grow with the number of idle sessions.
-- Where handlers have limits of their own, the group's name ends in 'l', and `full:<session>` lists, between line breaks, the names
-- that a sleeper cannot run because their handlers are full: for those names the sleeper is passed over.
-- `sleeping` says until when a group may have sleepers, so that a group without sleepers costs nothing.
-- Read phase: `readGroups` reads the sleepers of all groups, `readOwnGroup` those of the session's own group, `readWakers` those of the groups
-- that handle a name. Last in a script: `wakeGroup`.
-- ON_ITS_WAY_MS: how long a sleeper that has been told counts as on its way. `known`: `session` and `group`, whose turn this is, which
-- are absent where the script is nobody's turn; `ownGroup`, that group, and `groups`, all that may have sleepers, once they are read.
-- @takes base, sleepingKey, now, digits, publish, handlesName
-- @gives DEPUTY_MS, ON_ITS_WAY_MS, known, readGroups, readOwnGroup, readWakers, wakeGroup
DEPUTY_MS, ON_ITS_WAY_MS = 500, 50
known = {}
-- One, its deputy, and three more in case some have died without a word.
local SLEEPERS_READ = 5

local function openGroup(name)
  return { name = name, key = base .. 'sleepers:' .. name, handles = {} }
end

local function readSleepers(group)
  if group.sleepers then return end
  group.sleepers = {}
  local found = redis.call('ZRANGE', group.key, digits(now - ON_ITS_WAY_MS), '+inf', 'BYSCORE', 'LIMIT', 0, SLEEPERS_READ, 'WITHSCORES')
  for i = 1, #found, 2 do
    if found[i] ~= known.session then
      local full = string.sub(group.name, -1) == 'l' and redis.call('GET', base .. 'full:' .. found[i]) or ''
      group.sleepers[#group.sleepers + 1] = { id = found[i], at = tonumber(found[i + 1]), full = full }
    end
  end
end

local function listGroups()
  if known.groups then return end
  known.groups = {}
  for _, name in ipairs(redis.call('ZRANGE', sleepingKey, digits(now - ON_ITS_WAY_MS), '+inf', 'BYSCORE')) do
    local group = name == known.group and known.ownGroup or openGroup(name)
    if name == known.group then known.ownGroup = group end
    known.groups[#known.groups + 1] = group
  end
end

function readGroups()
  listGroups()
  for _, group in ipairs(known.groups) do readSleepers(group) end
end

function readOwnGroup()
  known.ownGroup = known.ownGroup or openGroup(known.group)
  readSleepers(known.ownGroup)
end

function readWakers(name)
  listGroups()
  for _, group in ipairs(known.groups) do
    if group.handles[name] == nil then
      group.handles[name] = handlesName(group.name, name)
      if group.handles[name] then readSleepers(group) end
    end
  end
end

-- `name`: a job of this name is due, so sleepers whose handler of it is full are passed over; without a name none is.
function wakeGroup(group, due, name)
  local function tell(sleeper, at)
    sleeper.at = at
    redis.call('ZADD', group.key, 'XX', digits(at), sleeper.id)
    local isHeard = publish(sleeper.id, digits(at))
    if not isHeard then redis.call('ZREM', group.key, sleeper.id) end
    return isHeard
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
