-- What is due, best first. Of two levels the lower number first; or, where jobs age, the lower rank, which is
-- due + priority * msPerLevel: as a job that waits grows more urgent by one level every msPerLevel, the order of two jobs never
-- changes, and so nothing need ever be scored anew. Inside a level first the jobs that prefer this worker, then those that
-- prefer none, then those that prefer another and may be stolen; each kind by due time, then by id.
-- Each kind of a level is a stream (see stream.lua).
-- Where the process is kept for a suspect (see suspects.lua), nothing else is picked.
-- Names that were stepped over because their handlers are full here: name -> true.
local fullNames = {}
local function isFull(name)
  local handler = handlers and handlers[name]
  return handler and handler.free <= 0
end

-- Due lanes that prefer no worker, and that this worker may not run. Noted only where a place may be offered to another (see offer.lua).
local passedOver = globalConcurrency > 0 and relayTo == '' and {} or nil

local function pick()
  local roomLeft, pickedCount = room, 0

  local function isSteppedOver(name, kind)
    if not isFull(name) then return false end
    -- Others may not take this worker's own, and look by themselves when they may.
    if kind ~= 'o' then fullNames[name] = true end
    return true
  end

  -- @include parts/stream.lua

  -- The best job of a level, and its stream.
  local function best(level)
    while level.streams[level.at] do
      local stream = level.streams[level.at]
      local front = bestOf(stream)
      if front then return front, stream end
      level.at = level.at + 1
    end
  end

  -- Picks the best job of a stream, or says what it does not fit into. The best one is not passed over for a lighter one that
  -- comes after it: it would wait for ever.
  local function takeOne(stream, front, handler)
    local weight = handler and handler.weight or 1
    if weight > roomLeft then
      stopped = 'room'
      return false
    end
    if pickedCount >= gateRoom then
      stopped = 'gate'
      return false
    end
    roomLeft = roomLeft - weight
    if handler then handler.free = handler.free - 1 end
    pickedCount = pickedCount + 1
    picked[pickedCount] = { id = front.id, due = front.due, dueText = front.dueText, front = front, weight = weight, envelope = false, record = false }
    return true
  end

  -- Picks from a stream's best lane as long as it is that, or once.
  local function take(stream, front, once)
    -- What a level's best job was may have been decided before another level's filled its handler.
    if isSteppedOver(front.name, stream.kind) then return end
    local handler = handlers and handlers[front.name]
    local other = stream.fronts[stream.first + 1]
    local isAlone = stream.exhausted and not other
    repeat
      if not takeOne(stream, front, handler) then return end
      if not advance(front, isAlone and math.min(roomLeft, gateRoom) + 1 or FIRST_READ) then
        stream.first = stream.first + 1
        return
      end
      local isBest = isAlone or other and not after(front, other) and (stream.exhausted or not after(front, stream.last))
    until once or handler or not isBest
    if other and after(front, other) then
      stream.first = stream.first + 1
      place(stream, front)
    end
  end

  local function pickLevel(level)
    local front, stream = best(level)
    while front and not stopped do
      take(stream, front, false)
      front, stream = best(level)
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
      local front, stream = best(level)
      if not front then return end
      level.front, level.stream, level.rank = front, stream, front.due + level.priority * msPerLevel
      local at = #open + 1
      while at > 1 and ranksAfter(level, open[at - 1]) do
        open[at] = open[at - 1]
        at = at - 1
      end
      open[at] = level
    end
    -- Levels whose best job cannot run any more, as its handler is full now: another of their jobs may have a better rank.
    local function reopenFull()
      local stale = {}
      for i = #open, 1, -1 do
        if isFull(open[i].front.name) then stale[#stale + 1] = table.remove(open, i) end
      end
      for _, level in ipairs(stale) do reopen(level) end
    end
    for _, level in ipairs(levels) do reopen(level) end
    -- The best one is the last, where taking it out is cheapest.
    while open[1] and not stopped do
      local level = table.remove(open)
      local name = level.front.name
      take(level.stream, level.front, true)
      if isFull(name) then reopenFull() end
      reopen(level)
    end
  end

  local function isCut(level)
    for _, stream in ipairs(level.streams) do
      if stream.isCut then return true end
    end
    return false
  end

  -- The levels that hold something due, most urgent first, with the streams that each has.
  local function openLevels(offsets)
    local opened, byPriority = {}, {}
    local function add(kind, key, ending)
      for _, priority in ipairs(redis.call('ZRANGE', key, '-inf', digits(now), 'BYSCORE')) do
        local level = byPriority[priority]
        if not level then
          level = { priority = tonumber(priority), streams = {}, at = 1 }
          byPriority[priority], opened[#opened + 1] = level, level
        end
        level.streams[#level.streams + 1] = openStream(kind, priority, ending, offsets[kind .. priority])
      end
    end
    if hasPreferred then add('o', base .. 'levels:' .. ownName, ':' .. ownName) end
    add('c', levelsKey, COMMON)
    if hasPreferred then add('s', base .. 'levels' .. PREFERRED, PREFERRED) end
    -- A relay runs nothing, so it moves suspects like any job.
    if relayTo ~= '' and suspectIndex.count > 0 then add('x', suspectIndex.key, SUSPECTS) end
    table.sort(opened, function(a, b) return a.priority < b.priority end)
    return opened
  end

  local function pickAll()
    local offsets, from = {}, nil
    for kind, priority, offset in string.gmatch(lookFrom, '([ocsx])(%d+) (%d+)') do
      offsets[kind .. priority] = tonumber(offset)
      if not from or tonumber(priority) < from then from = tonumber(priority) end
    end
    local opened, looked = openLevels(offsets), {}
    if msPerLevel > 0 then
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
    -- Streams that have been looked through are gone on with at their end, or the next turn would spend itself on them again.
    local places, wasCut = {}, false
    for _, level in ipairs(looked) do
      for _, stream in ipairs(level.streams) do places[#places + 1] = stream.kind .. level.priority .. ' ' .. digits(stream.offset) end
      wasCut = wasCut or isCut(level)
    end
    if wasCut then goOnFrom = table.concat(places, ' ') end
  end
  pickAll()
end
if room > 0 and gateRoom > 0 and suspect == '' then pick() end
