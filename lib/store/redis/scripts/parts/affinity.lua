-- A job may prefer a worker: that one takes it first, any other once it is `stealAfterMs` late or the preferred worker is gone.
-- What stands before a '~' names the worker; what comes after it one of several seats that the same process has.
local ownName = string.match(worker, '^[^~]*')
local preferredIndex = openIndex(PREFERRED)
local hasPreferred = preferredIndex.count > 0
local suspectIndex = openIndex(SUSPECTS)
local isHere, processesHere
-- Made only where they are needed: making a function costs a turn as much as reading a key. A job that this turn puts back may prefer a
-- worker where no waiting one did.
if hasPreferred or suspectIndex.count > 0 or settlements[1] or returning[1] then
  local workersHere, count = nil, 0

  local function readWorkersHere()
    workersHere = {}
    for _, member in ipairs(redis.call('ZRANGE', workersKey, '(' .. digits(now - leaseMs), '+inf', 'BYSCORE')) do
      local name = string.match(member, '^%S+ ([^ ~]*)')
      if not workersHere[name] then workersHere[name], count = true, count + 1 end
    end
  end

  -- A worker that was not here for a lease counts as gone.
  function isHere(name)
    if not workersHere then readWorkersHere() end
    return workersHere[name] or false
  end

  -- How many processes work at this queue.
  function processesHere()
    if not workersHere then readWorkersHere() end
    return count
  end
end
