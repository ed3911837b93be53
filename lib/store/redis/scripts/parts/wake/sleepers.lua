-- Sessions that handle the same names are a crew. An idle session stands in its crew's `sleepers` with the time at which it will look
-- again. When a lane's head moves forward, one sleeper of each crew that handles the name is told by a message on its own channel, and
-- a deputy half a second later in case the first one is dead. Where both look early enough anyway, neither is told; where only the first
-- does, it is told as well, as the answer to that shows whether it lives. A sleeper that looks within half a second after the due time anyway is the
-- deputy without a message, and only the next one is told: so in a busy queue a job costs one message, and a deputy is told every half a second.
-- A sleeper whose messages nobody hears has died, and is passed over. So the cost of a due job does not grow with the number of idle sessions.
-- Where handlers have limits of their own, the crew's name ends in 'l', and `full:<session>` lists, between line breaks, the names
-- that a sleeper cannot run because their handlers are full: for those names the sleeper is passed over.
-- `sleeping` says until when a crew may have sleepers, so that a crew without sleepers costs nothing.
-- Read phase: `readCrews` reads the sleepers of all crews, `readOwnCrew` those of the session's own crew, `readWakers` those of the crews
-- that handle a versioned name. Last in a script: `wakeCrew`.
-- `known`: `session` and `crew`, whose turn this is, which are absent where the script is nobody's turn; `ownCrew`, that crew, and `crews`, all
-- that may have sleepers, once they are read.
-- @needs parts/clock.lua, parts/wake/handles.lua, parts/wake/publish.lua
-- @takes base, sleepingKey
-- @gives known, readCrews, readOwnCrew, readWakers, wakeCrew
known = { session = nil, crew = nil, ownCrew = nil, crews = nil }
-- One, its deputy, and three more in case some have died without a word.
local SLEEPERS_READ = 5

local function openCrew(name)
  return { name = name, key = base .. 'sleepers:' .. name, handles = {}, sleepers = nil }
end

local function readSleepers(crew)
  if crew.sleepers then return end
  crew.sleepers = {}
  local found = redis.call('ZRANGE', crew.key, digits(now - ON_ITS_WAY_MS), '+inf', 'BYSCORE', 'LIMIT', 0, SLEEPERS_READ, 'WITHSCORES')
  for i = 1, #found, 2 do
    if found[i] ~= known.session then
      local full = string.sub(crew.name, -1) == 'l' and redis.call('GET', base .. 'full:' .. found[i]) or ''
      crew.sleepers[#crew.sleepers + 1] = { id = found[i], at = tonumber(found[i + 1]), full = full }
    end
  end
end

local function listCrews()
  if known.crews then return end
  known.crews = {}
  for _, name in ipairs(redis.call('ZRANGE', sleepingKey, digits(now - ON_ITS_WAY_MS), '+inf', 'BYSCORE')) do
    local crew = name == known.crew and known.ownCrew or openCrew(name)
    if name == known.crew then known.ownCrew = crew end
    known.crews[#known.crews + 1] = crew
  end
end

function readCrews()
  listCrews()
  for _, crew in ipairs(known.crews) do readSleepers(crew) end
end

function readOwnCrew()
  known.ownCrew = known.ownCrew or openCrew(known.crew)
  readSleepers(known.ownCrew)
end

function readWakers(versionedName)
  listCrews()
  for _, crew in ipairs(known.crews) do
    if crew.handles[versionedName] == nil then
      crew.handles[versionedName] = handledAmong(crew.name, { versionedName })[1] == 1
      if crew.handles[versionedName] then readSleepers(crew) end
    end
  end
end

-- `name`: a job of this name is due, so sleepers whose handler of it is full are passed over; without a name none is.
function wakeCrew(crew, due, name)
  -- Answers whether the sleeper may have heard that it is to look at `time`. `asks`: it looks early enough, and the answer alone matters.
  local function tell(sleeper, time, asks)
    if time < sleeper.at then
      sleeper.at = time
      redis.call('ZADD', crew.key, 'XX', digits(time), sleeper.id)
    end
    if publishTime(sleeper.id, time, asks) then return true end
    redis.call('ZREM', crew.key, sleeper.id)
    sleeper.isDead = true
  end

  local at, first, isFirstTold, deputy = math.max(due, now), nil, false, nil
  for _, sleeper in ipairs(crew.sleepers) do
    if sleeper.isDead or name and string.find(sleeper.full, '\n' .. name .. '\n', 1, true) then
      -- Nothing for that one.
    elseif not first then
      isFirstTold = sleeper.at > at
      if isFirstTold and not deputy and sleeper.at <= at + DEPUTY_MS then
        deputy = sleeper
      elseif not isFirstTold or tell(sleeper, at) then
        first = sleeper
        if deputy then break end
      end
    elseif sleeper.at <= at + DEPUTY_MS then
      break
    elseif isFirstTold or tell(first, at, true) then
      if tell(sleeper, at + DEPUTY_MS) then break end
    else
      -- The first looks early enough, but it has died: this one takes its place.
      isFirstTold = true
      first = tell(sleeper, at) and sleeper or nil
    end
  end
  -- Nobody else hears, so the deputy has to look in time itself.
  if deputy and not first then tell(deputy, at) end
  table.sort(crew.sleepers, function(a, b) return a.at < b.at end)
end
