-- What is due, best first. Inside a level by due time, then by id. Of two levels the lower number first; or, where jobs age, the
-- lower rank, which is due + priority * msPerLevel: as a job that waits grows more urgent by one level every msPerLevel, the
-- order of two jobs never changes, and so nothing need ever be scored anew.
-- Each level is a stream: its lanes come with the due times of their first jobs, earliest first, so a lane is only read
-- once its first job has been taken.
-- Due lanes that this worker may not run now are stepped over; how many a turn is bounded, and the next one goes on there.
local LANES_LOOKED_AT = 2000
-- How many heads of a level, and jobs of a lane, are read at first where several compete; then four times as many.
local FIRST_HEADS, MOST_HEADS, FIRST_READ = 8, 1000, 4
-- Envelopes are read in growing groups, so that large ones are noticed before many of them have been read.
local FIRST_ENVELOPES, LARGE_BYTES = 8, 1048576

local picked, more, goOnFrom = {}, false, ''
local lanesLooked = 0

local function after(a, b)
  if a.due ~= b.due then return a.due > b.due end
  return a.id > b.id
end

local function openDue(priority, offset)
  return { priority = tonumber(priority), key = base .. 'heads:' .. priority, offset = offset, chunk = FIRST_HEADS, fronts = {}, first = 1 }
end

-- Puts a lane where its next job belongs among the others of its level.
local function place(level, front)
  local fronts, low, high = level.fronts, level.first, #level.fronts + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if after(fronts[middle], front) then high = middle else low = middle + 1 end
  end
  table.insert(fronts, low, front)
end

local function readHeads(level)
  if lanesLooked >= LANES_LOOKED_AT then
    level.isCut, level.exhausted = true, true
    return
  end
  local heads = redis.call('ZRANGE', level.key, '-inf', digits(now), 'BYSCORE', 'LIMIT', level.offset, level.chunk, 'WITHSCORES')
  local laneNames, names, ids = {}, {}, {}
  for i = 1, #heads, 2 do
    local id, laneName = string.match(heads[i], '^([^\t]*)\t(.*)$')
    ids[#ids + 1], laneNames[#laneNames + 1], names[#names + 1] = id, laneName, nameOf(laneName)
  end
  level.exhausted = #ids < level.chunk
  if not ids[1] then return end
  for i, handled in ipairs(redis.call('SMISMEMBER', handlesKey, unpack(names))) do
    local due = tonumber(heads[2 * i])
    if handled == 1 then
      place(level, { id = ids[i], due = due, lane = laneNames[i], key = base .. 'lane:' .. laneNames[i], read = 1, jobs = {}, at = -1 })
    end
    level.last = { id = ids[i], due = due }
  end
  level.offset = level.offset + #ids
  level.chunk = math.min(level.chunk * 4, MOST_HEADS)
  lanesLooked = lanesLooked + #ids
end

-- The best job of a level, nil for none. Lanes whose heads have not been read begin later than the last one that was.
local function best(level)
  while not level.exhausted do
    local front = level.fronts[level.first]
    if front and not after(front, level.last) then return front end
    readHeads(level)
  end
  return level.fronts[level.first]
end

-- Moves a lane's front to its next due job; false when there is none.
local function advance(front, chunk)
  front.at = front.at + 2
  if not front.jobs[front.at] then
    if front.exhausted then return false end
    front.chunk = front.chunk and front.chunk * 4 or chunk
    local jobs = redis.call('ZRANGE', front.key, '-inf', digits(now), 'BYSCORE', 'LIMIT', front.read, front.chunk, 'WITHSCORES')
    front.read = front.read + #jobs / 2
    front.exhausted = #jobs / 2 < front.chunk
    front.jobs, front.at = jobs, 1
    if not jobs[1] then return false end
  end
  front.id, front.due = front.jobs[front.at], tonumber(front.jobs[front.at + 1])
  return true
end

-- Picks the best job of a level, or says that there is more than is wanted.
local function take(level, front)
  if #picked >= limit then
    more = true
    return
  end
  picked[#picked + 1] = { id = front.id, due = front.due, lane = front.lane }
  level.first = level.first + 1
  local isAlone = level.exhausted and not level.fronts[level.first]
  if advance(front, isAlone and limit - #picked + 1 or FIRST_READ) then place(level, front) end
end

local function pickLevel(level)
  local front = best(level)
  while front and not more do
    take(level, front)
    front = best(level)
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
    local front = best(level)
    if not front then return end
    level.rank = front.due + level.priority * msPerLevel
    local at = #open + 1
    while at > 1 and ranksAfter(level, open[at - 1]) do
      open[at] = open[at - 1]
      at = at - 1
    end
    open[at] = level
  end
  for _, level in ipairs(levels) do reopen(level) end
  -- The best one is the last, where taking it out is cheapest.
  while open[1] and not more do
    local level = table.remove(open)
    take(level, level.fronts[level.first])
    reopen(level)
  end
end

local function pick()
  local priorities = redis.call('ZRANGE', levelsKey, '-inf', digits(now), 'BYSCORE')
  table.sort(priorities, function(a, b) return tonumber(a) < tonumber(b) end)
  local offsets, from = {}, nil
  for priority, offset in string.gmatch(lookFrom, '(%d+) (%d+)') do
    offsets[priority], from = tonumber(offset), from or tonumber(priority)
  end
  local opened = {}
  if msPerLevel > 0 then
    for i, priority in ipairs(priorities) do opened[i] = openDue(priority, offsets[priority] or 0) end
    pickByRank(opened)
  else
    for _, priority in ipairs(priorities) do
      -- Levels before the one that was cut have been looked through.
      if not from or tonumber(priority) >= from then
        opened = { openDue(priority, offsets[priority] or 0) }
        pickLevel(opened[1])
        if more or opened[1].isCut then break end
      end
    end
  end
  if more then return end
  -- Levels that have been looked through are gone on with at their end, or the next turn would spend itself on them again.
  local places, isCut = {}, false
  for i, level in ipairs(opened) do
    places[i] = level.priority .. ' ' .. digits(level.offset)
    isCut = isCut or level.isCut
  end
  if isCut then goOnFrom = table.concat(places, ' ') end
end
if limit > 0 then pick() end

-- Cuts the claim where its envelopes grow too large for one reply.
local envelopes = {}
local function readEnvelopes()
  local bytes, from, chunk = 0, 1, FIRST_ENVELOPES
  while picked[from] do
    local ids = {}
    for i = from, math.min(from + chunk - 1, #picked) do ids[#ids + 1] = picked[i].id end
    for i, envelope in ipairs(redis.call('HMGET', jobsKey, unpack(ids))) do
      bytes = bytes + (envelope and #envelope or 0)
      if bytes > maxBytes and from + i - 1 > 1 then
        for cut = #picked, from + i - 1, -1 do picked[cut] = nil end
        more = true
        return
      end
      envelopes[from + i - 1] = envelope
    end
    from = from + #ids
    if bytes < LARGE_BYTES then chunk = chunk * 2 end
  end
end
readEnvelopes()
