-- What is due, most urgent first: level by level, inside a level by due time, then by id.
-- The best n jobs of a level lie in the n lanes with the earliest heads, so no more lanes than that are opened.
-- Due lanes that this worker may not run now are stepped over; how many a turn is bounded, and the next one goes on there.
local LANES_LOOKED_AT = 2000
-- How many jobs of a lane are read at first where several lanes compete; then four times as many.
local FIRST_READ = 4
-- Envelopes are read in growing groups, so that large ones are noticed before many of them have been read.
local FIRST_ENVELOPES, LARGE_BYTES = 8, 1048576

local picked, more, goOnFrom = {}, false, ''
local lanesLooked = 0

local function after(a, b)
  if a.due ~= b.due then return a.due > b.due end
  return a.id > b.id
end

-- Moves a lane's front to its next due job; false when there is none.
local function advance(front)
  front.at = front.at + 2
  if not front.jobs[front.at] then
    if front.exhausted then return false end
    local jobs = redis.call('ZRANGE', front.key, '-inf', digits(now), 'BYSCORE', 'LIMIT', front.read, front.chunk, 'WITHSCORES')
    front.read = front.read + #jobs / 2
    front.exhausted = #jobs / 2 < front.chunk
    front.chunk = front.chunk * 4
    front.jobs, front.at = jobs, 1
    if not jobs[1] then return false end
  end
  front.id, front.due = front.jobs[front.at], tonumber(front.jobs[front.at + 1])
  return true
end

-- The lanes of a level that have something due which this worker may run, earliest first: one more than are wanted.
local function dueLanes(priority, wanted, offset)
  local found = {}
  while true do
    local heads = redis.call('ZRANGE', base .. 'heads:' .. priority, '-inf', digits(now), 'BYSCORE', 'LIMIT', offset, wanted + 1)
    if not heads[1] then return found end
    local laneNames, names = {}, {}
    for i, head in ipairs(heads) do
      laneNames[i] = string.match(head, '\t(.*)$')
      names[i] = nameOf(laneNames[i])
    end
    local handled = redis.call('SMISMEMBER', handlesKey, unpack(names))
    for i, laneName in ipairs(laneNames) do
      if handled[i] == 1 then found[#found + 1] = laneName end
    end
    offset = offset + #heads
    lanesLooked = lanesLooked + #heads
    if #found > wanted or #heads <= wanted then return found end
    if lanesLooked >= LANES_LOOKED_AT then return found, priority .. ' ' .. digits(offset) end
  end
end

local function pickFrom(priority, offset)
  local wanted = limit - #picked
  local laneNames, cutAt = dueLanes(priority, wanted, offset)
  local fronts = {}
  for _, laneName in ipairs(laneNames) do
    local front = { lane = laneName, key = base .. 'lane:' .. laneName, read = 0, at = 0, jobs = {}, chunk = #laneNames == 1 and wanted + 1 or FIRST_READ }
    if advance(front) then fronts[#fronts + 1] = front end
  end
  local first = 1
  while fronts[first] do
    local front = fronts[first]
    if #picked >= limit then
      more = true
      break
    end
    picked[#picked + 1] = { id = front.id, due = front.due, lane = front.lane }
    if not advance(front) then
      first = first + 1
    else
      local place = first
      while fronts[place + 1] and after(front, fronts[place + 1]) do
        fronts[place] = fronts[place + 1]
        place = place + 1
      end
      fronts[place] = front
    end
  end
  return cutAt
end

local function pick()
  local priorities = redis.call('ZRANGE', levelsKey, '-inf', digits(now), 'BYSCORE')
  table.sort(priorities, function(a, b) return tonumber(a) < tonumber(b) end)
  local fromPriority, fromOffset = string.match(lookFrom, '^(%d+) (%d+)$')
  for _, priority in ipairs(priorities) do
    if not fromPriority or tonumber(priority) >= tonumber(fromPriority) then
      local cutAt = pickFrom(priority, priority == fromPriority and tonumber(fromOffset) or 0)
      if cutAt and not more then
        goOnFrom = cutAt
        return
      end
    end
    if more then return end
  end
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
