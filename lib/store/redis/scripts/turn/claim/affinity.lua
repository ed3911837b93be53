-- A job may prefer a worker: that one takes it first, any other once it is `stealAfterMs` late or the preferred worker is gone.
-- `ownWorker`: the worker of this session, which stands before a '~' where the session is a pull or a relay. `isHere`, `processesHere`:
-- whether a worker lives, and how many processes work at this queue; made only where they are needed, as making a function costs a turn
-- as much as reading a key. A job that this turn puts back may prefer a worker where no waiting one did.
-- @needs parts/clock.lua, parts/lanes.lua
-- @takes settings, me, decided, workersKey
-- @gives ownWorker, preferredIndex, suspectIndex, isHere, processesHere
ownWorker = string.match(me.session, '^[^~]*')
preferredIndex, suspectIndex = openIndex(PREFERRED), openIndex(SUSPECTS)
if preferredIndex.count > 0 or suspectIndex.count > 0 or decided.settlements[1] or decided.returning[1] then
  local workersHere, count = nil, 0

  local function readWorkersHere()
    workersHere = {}
    for _, member in ipairs(redis.call('ZRANGE', workersKey, '(' .. digits(now - settings.leaseMs), '+inf', 'BYSCORE')) do
      local name = string.match(member, '^%S+ ([^ ~]*)')
      if not workersHere[name] then workersHere[name], count = true, count + 1 end
    end
  end

  -- A worker that was not here for a lease counts as gone.
  function isHere(name)
    if not workersHere then readWorkersHere() end
    return workersHere[name] or false
  end

  function processesHere()
    if not workersHere then readWorkersHere() end
    return count
  end
end
