-- A session that settles and claims in one step would keep all places under `globalConcurrency` for its own backlog. Therefore a turn that
-- would take the last place leaves one for each better job that this session may not run, and that a sleeper with capacity for it may:
-- the turn tells that sleeper, and keeps the place for it for OFFER_MS. While places are left, and where every better job can run here,
-- nothing is compared.
-- "Better" is the order of the queue (see pick.lua). Of one level a job that prefers the sleeper is better than one that prefers nobody,
-- as it is for that sleeper.
-- Sleepers are told before anything is written, so that no place is kept for a session that does not hear. No sleeper can come before
-- the script has ended; a message that leads to nothing costs one look.
-- @takes settings, me, opening, base, suspect, OFFER_MS, ON_ITS_WAY_MS, EVERY_NAME, PREFERRED, handlesKey, now, digits, nameOf, preferredOf, ownWorker, isHere, preferredIndex, isFull, giveBack, picked, passedOver, offers, known, readGroups, publish
-- @changes stopped
-- How many places a turn offers; in how many levels, and how far in each, it looks for jobs that prefer other workers.
local OFFERS_A_TURN, LEVELS_LOOKED_AT, HEADS_LOOKED_AT = 10, 10, 20
-- Whom a job prefers, seen from the worker that would run it.
local ITSELF, NOBODY, ANOTHER = 1, 2, 3

local made, unheard = {}, {}
offers.made, offers.unheard = made, unheard

local function describe(id, due, lane, kind)
  local priority = tonumber(string.match(lane, '^%d+'))
  return { id = id, due = due, lane = lane, name = nameOf(lane), priority = priority, kind = kind, rank = due + priority * settings.msPerLevel }
end

local function isBetter(a, b)
  if a.priority ~= b.priority then
    if settings.msPerLevel > 0 and a.rank ~= b.rank then return a.rank < b.rank end
    return a.priority < b.priority
  end
  if a.kind ~= b.kind then return a.kind < b.kind end
  if a.due ~= b.due then return a.due < b.due end
  return a.id < b.id
end

local function worstPicked()
  local job = picked[#picked]
  local preferred = preferredOf(job.front.lane)
  return describe(job.id, job.due, job.front.lane, preferred == ownWorker and ITSELF or preferred == '' and NOBODY or ANOTHER)
end

local function mayRunHere(name)
  return not isFull(name) and (me.group == EVERY_NAME or redis.call('SISMEMBER', handlesKey, name) == 1)
end

-- Adds the due jobs that prefer other workers, from the levels that may hold a better one than `worst`.
local function addPreferring(found, worst)
  local levels = redis.call('ZRANGE', preferredIndex.key, '-inf', digits(now), 'BYSCORE', 'WITHSCORES')
  local looked = {}
  for i = 1, #levels, 2 do
    local level = describe('', tonumber(levels[i + 1]), levels[i] .. '::', ITSELF)
    if level.priority == worst.priority or isBetter(level, worst) then looked[#looked + 1] = level end
  end
  table.sort(looked, function(a, b)
    if a.rank ~= b.rank and settings.msPerLevel > 0 then return a.rank < b.rank end
    return a.priority < b.priority
  end)
  -- This turn may have picked such jobs itself, by stealing them.
  local isPicked = {}
  for _, job in ipairs(picked) do isPicked[job.id] = true end
  for i = 1, math.min(#looked, LEVELS_LOOKED_AT) do
    local key = base .. 'heads:' .. digits(looked[i].priority) .. PREFERRED
    local heads = redis.call('ZRANGE', key, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, HEADS_LOOKED_AT, 'WITHSCORES')
    for at = 1, #heads, 2 do
      local id, lane = string.match(heads[at], '^([^\t]*)\t(.*)$')
      local due, preferred = tonumber(heads[at + 1]), preferredOf(lane)
      if preferred ~= ownWorker and not isPicked[id] then
        local job = describe(id, due, lane, ITSELF)
        job.only, job.rankInLane = preferred, 0
        found[#found + 1] = job
        if (due <= now - settings.stealAfterMs or not isHere(preferred)) and not mayRunHere(job.name) then
          job = describe(id, due, lane, ANOTHER)
          job.rankInLane = 0
          found[#found + 1] = job
        end
      end
    end
  end
end

-- The due jobs that are better than the worst picked one and cannot run here: the first of each lane.
local function findBetter()
  local found, better, worst = {}, {}, worstPicked()
  for _, over in ipairs(passedOver) do
    local job = describe(over.id, over.due, over.lane, NOBODY)
    job.rankInLane = 0
    -- Where a handler has become full in this turn, jobs of this lane have been picked before: pass over those.
    for _, each in ipairs(over.front and picked or {}) do
      if each.front == over.front then job.rankInLane = job.rankInLane + 1 end
    end
    found[#found + 1] = job
  end
  if preferredIndex.count > 0 then addPreferring(found, worst) end
  for _, job in ipairs(found) do
    if isBetter(job, worst) then better[#better + 1] = job end
  end
  return better
end

-- Takes out the best job. By a search: where jobs both age and prefer workers, the order is not transitive, so it cannot be sorted by.
local function takeBest(jobs)
  local best = 1
  for i = 2, #jobs do
    if isBetter(jobs[i], jobs[best]) then best = i end
  end
  return table.remove(jobs, best)
end

local function addNextOfLane(jobs, job)
  local rank = job.rankInLane + 1
  local found = redis.call('ZRANGE', base .. 'lane:' .. job.lane, rank, rank, 'WITHSCORES')
  if not found[1] or tonumber(found[2]) > now then return end
  local following = describe(found[1], tonumber(found[2]), job.lane, job.kind)
  following.rankInLane, following.only = rank, job.only
  jobs[#jobs + 1] = following
end

-- Reads which groups with a sleeper handle the names of these jobs. Of groups that are known already, as this turn puts a job back, the
-- sleepers may still be unread.
local function readHandled(jobs)
  readGroups()
  local names = {}
  for i, job in ipairs(jobs) do names[i] = job.name end
  for _, g in ipairs(known.groups) do
    if g.sleepers[1] then
      local handled = g.name ~= EVERY_NAME and redis.call('SMISMEMBER', base .. 'handles:' .. g.name, unpack(names))
      for i, name in ipairs(names) do g.handles[name] = not handled or handled[i] == 1 end
    end
  end
end

-- The sleepers of a group that may be offered this job. A preferred worker may stand far down among many sleepers, so it is looked up.
local function sleepersFor(job, group)
  if not job.only then return group.sleepers end
  local found = {}
  for _, id in ipairs({ job.only, job.only .. '~pull-' .. group.name }) do
    local at = redis.call('ZSCORE', group.key, id)
    if at and tonumber(at) >= now - ON_ITS_WAY_MS then
      local full = string.sub(group.name, -1) == 'l' and redis.call('GET', base .. 'full:' .. id) or ''
      found[#found + 1] = { id = id, full = full }
    end
  end
  return found
end

-- Tells a sleeper of a place for this job; false where no sleeper hears.
local function tell(job)
  for _, g in ipairs(known.groups) do
    for _, sleeper in ipairs(g.sleepers[1] and g.handles[job.name] and sleepersFor(job, g) or {}) do
      local id = sleeper.id
      -- A relay needs no place.
      local isAsked = not offers.to[id] and not string.find(id, '~relay-', 1, true)
      if isAsked and not string.find(sleeper.full, '\n' .. job.name .. '\n', 1, true) then
        offers.to[id] = true
        if publish(id, digits(now)) then
          made[#made + 1] = { session = id, job = job.id, group = g }
          -- It is on its way: so later messages to its group go to others.
          for _, each in ipairs(g.sleepers) do
            if each.id == id then each.at = now end
          end
          return true
        end
        unheard[#unheard + 1] = { session = id, group = g }
      end
    end
  end
  return false
end

local function offerPlaces(places)
  local better = findBetter()
  if not better[1] then return end
  readHandled(better)
  while places > 0 and picked[1] and better[1] do
    local job = takeBest(better)
    if not isBetter(job, worstPicked()) then return end
    if offers.of[job.id] then
      addNextOfLane(better, job)
    elseif tell(job) then
      offers.of[job.id] = true
      giveBack(picked[#picked])
      picked[#picked] = nil
      places = places - 1
      addNextOfLane(better, job)
    end
  end
end

-- A pull that goes with its jobs could not come back for the place. A pull that stays, because it gives its only job back, can.
local stays = me.standing == 'stays' or (me.standing == 'until-claimed' and #picked == 1)
if passedOver and stays and suspect == '' and picked[1] and #picked >= settings.globalConcurrency - offers.running - offers.held then
  offerPlaces(math.min(#picked - #offers.over, OFFERS_A_TURN))
end
if made[1] then
  stopped = 'gate'
  opening.mayPass, opening.opensAt = opening.mayPass - #made, math.min(offers.ends, now + OFFER_MS)
  offers.held, offers.ends = offers.held + #made, opening.opensAt
end
