-- The due jobs that this turn takes, best first. Of two levels the lower number comes first; or, where jobs age, the lower rank, which is
-- due + priority * msPerLevel: as a waiting job grows more urgent by one level every msPerLevel, the order of two jobs never changes,
-- and so nothing need ever be scored anew. Inside a level first come the jobs that prefer this worker, then those that prefer none, then
-- those that prefer another and may be stolen; each kind by due time, then by id. Each kind of a level is a source (see source.lua). Where
-- groups have due jobs at a level, these and the jobs without a group take turns there (see units.lua).
-- `stopped`: why no more of the due jobs: 'limit' of this session, 'gate', or 'size' of the turn. `nextCursor`: where to go on looking.
-- `fullNames`: names that were passed over because their handlers are full here, name -> true. `passedOver`: where it is a table, due
-- lanes are added that prefer no worker and that this session may not run. `takesSuspects`: suspects are picked like any job.
-- @needs parts/clock.lua, parts/envelope.lua, parts/lanes.lua
-- @takes settings, me, opening, base, levelsKey, handlesKey, handlers, isFull, ownWorker, isHere, preferredIndex, suspectIndex, grouping, picked, passedOver, fullNames, takesSuspects
-- @changes stopped, nextCursor
-- The levels that hold something due, each once for each kind of its due jobs.
local dueLevels = {}
local function findDue(kind, key, ending)
  for _, priority in ipairs(redis.call('ZRANGE', key, '-inf', digits(now), 'BYSCORE')) do
    dueLevels[#dueLevels + 1] = { kind = kind, priority = priority, ending = ending }
  end
end
if preferredIndex.count > 0 then findDue('o', base .. 'levels:' .. ownWorker, ':' .. ownWorker) end
findDue('c', levelsKey, COMMON)
if preferredIndex.count > 0 then findDue('s', base .. 'levels' .. PREFERRED, PREFERRED) end
if takesSuspects and suspectIndex.count > 0 then findDue('x', suspectIndex.key, SUSPECTS) end
if grouping then findDue('g', base .. 'levels' .. GROUPED, GROUPED) end

-- One function, so that the functions inside it look for their names here first. To make all of them costs an idle turn a tenth of its time.
local function pick()
  local ofGroupsPicked, mayPass = 0, opening.mayPass
  -- Until when a lane's jobs must be due for this session to steal them; nil if it may not.
  local function stealsBy(laneName)
    local preferred = preferredOf(laneName)
    -- Its own lanes come in a source of their own.
    if preferred == ownWorker then return nil end
    return isHere(preferred) and now - settings.stealAfterMs or now
  end

  -- @include turn/claim/take.lua
  -- The best job without a group of a level, and its source.
  local function bestCommon(level)
    while level.sources[level.at] do
      local source = level.sources[level.at]
      local front = bestOf(source)
      if front then return front, source end
      level.at = level.at + 1
    end
  end

  -- The best job of a level, with its source, or with the unit whose turn it is; and what picks it.
  local best, takeBest = bestCommon, take
  if grouping then
    -- @include turn/claim/take-turns.lua
  end

  local function pickLevel(level)
    local front, source = best(level)
    while front and not stopped do
      takeBest(source, front, false, level)
      front, source = best(level)
    end
  end

  local function ranksAfter(a, b)
    if a.rank ~= b.rank then return a.rank > b.rank end
    return a.priority > b.priority
  end

  -- Merges levels by the rank of their best jobs.
  local function pickByRank(levels)
    local open = {}
    local function reopen(level)
      local front, source = best(level)
      if not front then return end
      level.front, level.source, level.rank = front, source, front.due + level.priority * settings.msPerLevel
      local at = #open + 1
      while at > 1 and ranksAfter(level, open[at - 1]) do
        open[at] = open[at - 1]
        at = at - 1
      end
      open[at] = level
    end
    -- Levels whose best job cannot run any more, as its handler is full now, or a limit of its group reached: another of their jobs may
    -- have a better rank. `group`: that of the job that was taken, nil for none.
    local function reopenStale(group)
      local stale = {}
      for i = #open, 1, -1 do
        local front = open[i].front
        if isFull(front.name) or (group and front.group == group) then stale[#stale + 1] = table.remove(open, i) end
      end
      for _, level in ipairs(stale) do reopen(level) end
    end
    for _, level in ipairs(levels) do reopen(level) end
    -- The best one is the last, where taking it out is cheapest.
    while open[1] and not stopped do
      local level = table.remove(open)
      local name, group = level.front.name, level.front.group
      takeBest(level.source, level.front, true, level)
      if group or isFull(name) then reopenStale(group) end
      reopen(level)
    end
  end

  local function isCut(level)
    for _, source in ipairs(level.sources) do
      if source.isCut then return true end
    end
    return false
  end

  -- The levels that hold something due, most urgent first, with the sources that each has.
  local function openLevels(offsets)
    local opened, byPriority = {}, {}
    for _, due in ipairs(dueLevels) do
      local key = due.kind == 'g' and string.match(due.priority, '^%d+') or due.priority
      local level = byPriority[key]
      if not level then
        level = { priority = tonumber(key), key = key, sources = {}, at = 1 }
        byPriority[key], opened[#opened + 1] = level, level
      end
      if due.kind == 'g' then
        level.hasUnits = true
      else
        level.sources[#level.sources + 1] = openSource(due.kind, due.priority, due.ending, offsets[due.kind .. due.priority])
      end
    end
    table.sort(opened, function(a, b) return a.priority < b.priority end)
    return opened
  end

  local function pickAll()
    local offsets, from = {}, nil
    for kind, priority, offset in string.gmatch(me.cursor, '([ocsx])(%d+) (%d+)') do
      offsets[kind .. priority] = tonumber(offset)
      if not from or tonumber(priority) < from then from = tonumber(priority) end
    end
    local opened, looked = openLevels(offsets), {}
    if settings.msPerLevel > 0 then
      looked = opened
      pickByRank(opened)
    else
      for _, level in ipairs(opened) do
        -- Levels before the one that was cut have been looked through.
        if not from or level.priority >= from then
          looked[1] = level
          pickLevel(level)
          if stopped or isCut(level) then break end
        end
      end
    end
    if stopped then return end
    -- Sources that have been looked through are gone on with at their end, or the next turn would spend itself on them again.
    local cursors, wasCut = {}, false
    for _, level in ipairs(looked) do
      for _, source in ipairs(level.sources) do cursors[#cursors + 1] = source.kind .. level.priority .. ' ' .. digits(source.offset) end
      wasCut = wasCut or isCut(level)
    end
    if wasCut then nextCursor = table.concat(cursors, ' ') end
  end
  pickAll()
end
if dueLevels[1] then pick() end
