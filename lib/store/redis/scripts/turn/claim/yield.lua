-- A session that settles and claims in one step would keep all places under `globalConcurrency` for its own backlog. Therefore a turn that
-- would take the last of them yields to better jobs that this session may not run and a sleeper may: it tells that sleeper, and leaves a
-- place for YIELD_MS. Every turn looks by itself, so a session that may run the better job, or a still better one, takes the place.
-- While places are left, nothing is compared.
-- "Better" is the order of the queue (see pick.lua). Of one level a job that prefers the sleeper is better than one that prefers nobody,
-- as it is for that sleeper.
-- `yields` in Redis remembers job id -> until when a place is left for it, and for YIELD_AGAIN_MS more, so that a job for which nobody comes gets
-- no other place meanwhile. Where a yield has just ended in vain none begins: one place is not left for one job after another. Whoever takes
-- the last place forgets the yields that are still on: their places are taken. A tab and a
-- process stand for the suspect that lacks only a place there: a place is left for it whatever else is due.
-- Sleepers are told before anything is written, so that no place is left for a session that does not hear. No sleeper can come before
-- the script has ended; a message that leads to nothing costs one look.
-- `yield`: `lookAt`, when this session looks for the place again, nil where it has left none; and what is to be written:
-- `begun`, scores and members; `over`, members; `asked`, sleepers that were told, or did not hear: they list themselves again.
-- @needs parts/clock.lua, parts/envelope.lua, parts/lanes.lua, parts/wake/handles.lua, parts/wake/publish.lua, parts/wake/sleepers.lua
-- @takes settings, me, opening, base, suspect, awaited, ownWorker, isHere, preferredIndex, isFull, giveBack, picked, places, passedOver, yieldsKey
-- @changes yield, stopped
-- Whom a job prefers, seen from the worker that would run it.
local ITSELF, NOBODY, ANOTHER = 1, 2, 3

yield = { begun = {}, over = {}, asked = {} }
local begun, over, asked = yield.begun, yield.over, yield.asked
-- A pull that goes with its jobs could not come back for the place. A pull that stays, because it gives its only job back, can. Nor is a place left
-- where the time of another one is just over.
local mayBegin = me.standing == 'stays' or (me.standing == 'until-claimed' and #picked == 1)
local leftUntil, remembered, suspectsUntil = {}, 0, {}
do
  local found = redis.call('ZRANGE', yieldsKey, 0, -1, 'WITHSCORES')
  for i = 1, #found, 2 do
    local member, at = found[i], tonumber(found[i + 1])
    local isSuspect = string.sub(member, 1, 1) == '\t'
    -- A later end than one from now on is of a clock that went back.
    if member == '\t' .. ownWorker or at > now + YIELD_MS or at <= now - (isSuspect and 0 or YIELD_AGAIN_MS) then
      over[#over + 1] = member
    elseif isSuspect then
      suspectsUntil[#suspectsUntil + 1] = at
    else
      leftUntil[member], remembered = at, remembered + 1
      if at <= now and at > now - YIELD_MS then mayBegin = false end
    end
  end
end

local function describe(id, due, lane, kind, only)
  local priority = tonumber(string.match(lane, '^%d+'))
  local rank = settings.msPerLevel > 0 and due + priority * settings.msPerLevel or priority
  return { id = id, due = due, name = nameOf(lane), versionedName = versionedNameOf(lane), priority = priority, kind = kind, only = only, rank = rank }
end

local function comesBefore(a, b)
  if a.rank ~= b.rank then return a.rank < b.rank end
  if a.priority ~= b.priority then return a.priority < b.priority end
  if a.due ~= b.due then return a.due < b.due end
  return a.id < b.id
end

local function isBetter(a, b)
  -- It has taken the turn of the jobs without a group, which this session may not run.
  if a.priority == b.priority and b.overtakes ~= nil then return b.overtakes end
  if a.priority == b.priority and a.kind ~= b.kind then return a.kind < b.kind end
  return comesBefore(a, b)
end

local function worstPicked()
  local job = picked[#picked]
  local preferred = preferredOf(job.front.lane)
  local worst = describe(job.id, job.due, job.front.lane, preferred == ownWorker and ITSELF or preferred == '' and NOBODY or ANOTHER)
  worst.overtakes = job.overtakes
  return worst
end

-- Adds the first jobs of lanes that prefer other workers.
local function addPreferring(jobs, worst)
  -- How many lanes are looked at whose jobs prefer other workers.
  local MOST_PREFERRING = 20
  local isPicked, left = {}, MOST_PREFERRING
  for _, job in ipairs(picked) do isPicked[job.id] = true end
  local priorities = redis.call('ZRANGE', preferredIndex.key, '-inf', digits(now), 'BYSCORE')
  table.sort(priorities, function(a, b) return tonumber(a) < tonumber(b) end)
  for _, priority in ipairs(priorities) do
    if left == 0 or (settings.msPerLevel == 0 and tonumber(priority) > worst.priority) then break end
    local heads = redis.call('ZRANGE', base .. 'heads:' .. priority .. PREFERRED, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, left, 'WITHSCORES')
    for i = 1, #heads, 2 do
      local id, lane = string.match(heads[i], '^([^\t]*)\t(.*)$')
      local due, preferred = tonumber(heads[i + 1]), preferredOf(lane)
      if preferred ~= ownWorker and not isPicked[id] then
        jobs[#jobs + 1] = describe(id, due, lane, ITSELF, preferred)
        local mayBeStolen = due <= now - settings.stealAfterMs or not isHere(preferred)
        if mayBeStolen and (isFull(nameOf(lane)) or handledAmong(me.crew, { versionedNameOf(lane) })[1] == 0) then
          jobs[#jobs + 1] = describe(id, due, lane, ANOTHER)
        end
      end
    end
    left = left - #heads / 2
  end
end

-- The due jobs that cannot run here and are better than the worst picked one, best first. Of each lane the first one.
local function findBetter()
  local jobs, better, worst = {}, {}, worstPicked()
  for _, job in ipairs(passedOver) do jobs[#jobs + 1] = describe(job.id, job.due, job.lane, NOBODY) end
  if preferredIndex.count > 0 then addPreferring(jobs, worst) end
  for _, job in ipairs(jobs) do
    if isBetter(job, worst) then better[#better + 1] = job end
  end
  table.sort(better, comesBefore)
  return better
end

-- The sleepers of a crew that may run this job. A preferred worker may stand far down among many sleepers, so it is looked up.
local function sleepersFor(job, crew)
  if not job.only then return crew.sleepers end
  local sleepers = {}
  for _, id in ipairs({ job.only, job.only .. '~pull-' .. crew.name }) do
    local at = redis.call('ZSCORE', crew.key, id)
    if at and tonumber(at) >= now - ON_ITS_WAY_MS then
      local full = string.sub(crew.name, -1) == 'l' and redis.call('GET', base .. 'full:' .. id) or ''
      sleepers[#sleepers + 1] = { id = id, full = full }
    end
  end
  return sleepers
end

-- Tells a sleeper of a place for this job; false where no sleeper hears.
local function tell(job)
  readCrews()
  for _, crew in ipairs(known.crews) do
    local handled = crew.handles[job.versionedName]
    if handled == nil then
      handled = handledAmong(crew.name, { job.versionedName })[1] == 1
      crew.handles[job.versionedName] = handled
    end
    for _, sleeper in ipairs(handled and sleepersFor(job, crew) or {}) do
      local id = sleeper.id
      -- A relay needs no place.
      if not asked[id] and not string.find(id, '~relay-', 1, true) and not string.find(sleeper.full, '\n' .. job.name .. '\n', 1, true) then
        asked[id] = crew
        if publishTime(id, now) then
          -- It is on its way: so later messages to its crew go to others.
          for _, each in ipairs(crew.sleepers) do
            if each.id == id then each.at = now end
          end
          return true
        end
      end
    end
  end
  return false
end

-- Leaves the worst picked job's place until then.
local function leave(at)
  giveBack(picked[#picked])
  picked[#picked] = nil
  yield.lookAt = math.min(yield.lookAt or at, at)
end

local function yieldTo(job)
  local at = leftUntil[job.id]
  if not at and mayBegin and remembered < MOST_YIELDS and tell(job) then
    at, remembered = now + YIELD_MS, remembered + 1
    begun[#begun + 1], begun[#begun + 2] = digits(at), job.id
  end
  if not at then return end
  if at > now then leave(at) end
  -- A job that any worker may steal stands twice among the better ones, and gets one place.
  leftUntil[job.id] = now
end

if suspect == '' then
  for _, at in ipairs(suspectsUntil) do
    if picked[1] then leave(at) end
  end
  for _, job in ipairs(picked[1] and findBetter() or {}) do
    if picked[1] and isBetter(job, worstPicked()) then yieldTo(job) end
  end
end
if awaited then
  -- It looks again before the place is left to others.
  begun[1], begun[2], yield.lookAt = digits(now + YIELD_MS), '\t' .. ownWorker, math.floor(now + YIELD_MS / 2)
elseif yield.lookAt then
  stopped, opening.mayPass = 'gate', #picked
elseif picked[1] and #picked >= places.left then
  for id, at in pairs(leftUntil) do
    if at > now then over[#over + 1] = id end
  end
end
