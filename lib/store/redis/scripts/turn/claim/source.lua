-- A source of due jobs: those of one level that prefer this worker, none, or another from which they may be stolen. Its lanes come with the
-- due times of their first jobs, earliest first, so a lane is only read once its first job has been taken.
-- Due lanes that this session may not run now are passed over; how many a turn is bounded, and the next turn goes on there.
-- `stealsBy`: until when jobs of a lane must be due for this session to steal them, nil if it may not; asked in sources of stolen jobs only.
-- `seesUnhandled`: whether a due lane was passed over because the crew does not handle its name.
-- @needs parts/clock.lua, parts/envelope.lua, parts/lanes.lua, parts/wake/handles.lua
-- @takes me, base, handlesKey, ownWorker, stealsBy, isPassedOver, passedOver
-- @gives after, insert, openSource, bestOf, readFirst, advance, seesUnhandled
-- How many lanes a turn looks at by their heads, and how many by the names of its crew.
local LANES_LOOKED_AT = 2000
-- `count`: how many lanes were looked up; once one is: `names`, what the crew handles, and `versioned`, how many lanes there are of versions above 1,
-- where the session takes these without knowing them.
local lookedUp = { count = 0, names = nil, versioned = nil }
-- How many heads of a source are read at most at once.
local MOST_HEADS = 1000
local lanesLooked = 0

function after(a, b)
  if a.due ~= b.due then return a.due > b.due end
  return a.id > b.id
end

-- `kind` tells the sources of a level apart from turn to turn: o(wn), c(ommon), s(tolen), x (suspects, of a relay).
function openSource(kind, priority, ending, offset)
  return { kind = kind, priority = priority, seen = {}, key = base .. 'heads:' .. priority .. ending, offset = offset or 0, chunk = FIRST_HEADS, fronts = {}, first = 1 }
end

-- Puts a lane where its next job belongs among the others of its source.
function insert(source, front)
  local fronts, low, high = source.fronts, source.first, #source.fronts + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if after(fronts[middle], front) then high = middle else low = middle + 1 end
  end
  table.insert(fronts, low, front)
end

-- Takes a lane with due jobs into a source; false where this session may not run them now.
local function consider(source, laneName, id, dueText)
  local due, last = tonumber(dueText), now
  if source.kind == 's' then last = stealsBy(laneName) end
  if source.seen[laneName] then return true end
  local name = nameOf(laneName)
  if not last or due > last or isPassedOver(name, source.kind) then return false end
  source.seen[laneName] = true
  insert(source, { id = id, due = due, dueText = dueText, head = { id, dueText }, dueBy = last, name = name, lane = laneName, key = base .. 'lane:' .. laneName, read = 1, jobs = {}, at = 1, step = 2, chunk = nil, exhausted = nil, firsts = nil, areAllFirsts = nil })
  return true
end

local function isLookedUp(source)
  if source.kind == 's' or me.crew == EVERY_NAME or source.offset < math.max(PASSED_OVER, 4 * me.crewSize) then return false end
  lookedUp.versioned = lookedUp.versioned or string.sub(me.crew, -1) == 'v' and redis.call('ZCARD', base .. 'versioned') or 0
  return lookedUp.count + me.crewSize + lookedUp.versioned <= LANES_LOOKED_AT
end

-- Opens the lanes that this session may run by their names instead of by their heads.
local function lookUp(source)
  lookedUp.names = lookedUp.names or redis.call('SMEMBERS', handlesKey)
  lookedUp.count = lookedUp.count + #lookedUp.names + lookedUp.versioned
  local begin = source.priority .. ':' .. (source.kind == 'o' and ownWorker or source.kind == 'x' and '!' or '') .. ':'
  local function open(laneName)
    local first = redis.call('ZRANGE', base .. 'lane:' .. laneName, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES')
    if first[1] then consider(source, laneName, first[1], first[2]) end
  end
  local isHandled = {}
  for _, name in ipairs(lookedUp.names) do
    isHandled[name] = true
    open(begin .. name)
  end
  for _, laneName in ipairs(lookedUp.versioned > 0 and redis.call('ZRANGE', base .. 'versioned', 0, -1) or {}) do
    if string.sub(laneName, 1, #begin) == begin and isHandled[nameOf(laneName)] then open(laneName) end
  end
  source.exhausted = true
end

local passOver = passedOver and function(source, lane)
  -- The most lanes noted that this session may not run. They come in the order of reading, which is mostly that of the queue.
  local MOST_PASSED_OVER = 100
  if source.kind == 'c' and #passedOver < MOST_PASSED_OVER then passedOver[#passedOver + 1] = lane end
end

local function readHeads(source)
  if isLookedUp(source) then return lookUp(source) end
  if lanesLooked >= LANES_LOOKED_AT then
    source.isCut, source.exhausted = true, true
    return
  end
  -- By rank, so that this script knows who comes next once the due ones are taken.
  local read = source.offset == 0 and headsRead[source.key]
  local heads = read and read.firsts or redis.call('ZRANGE', source.key, source.offset, source.offset + source.chunk - 1, 'WITHSCORES')
  local count = #heads
  if source.offset == 0 then headsRead[source.key] = { firsts = heads, areAllFirsts = count < 2 * source.chunk } end
  while count > 0 and tonumber(heads[count]) > now do count = count - 2 end
  local laneNames, versionedNames, ids = {}, {}, {}
  for i = 1, count, 2 do
    local id, laneName = string.match(heads[i], '^([^\t]*)\t(.*)$')
    ids[#ids + 1], laneNames[#laneNames + 1], versionedNames[#versionedNames + 1] = id, laneName, versionedNameOf(laneName)
  end
  source.exhausted = #ids < source.chunk
  if not ids[1] then return end
  local handled = handledAmong(me.crew, versionedNames)
  for i in ipairs(ids) do
    local isHandled = handled[i] == 1
    if not isHandled then seesUnhandled = true end
    local isTaken = isHandled and consider(source, laneNames[i], ids[i], heads[2 * i])
    if passedOver and not isTaken then
      passOver(source, { id = ids[i], due = tonumber(heads[2 * i]), lane = laneNames[i] })
    end
    source.last = { id = ids[i], due = tonumber(heads[2 * i]) }
  end
  source.offset = source.offset + #ids
  source.chunk = math.min(source.chunk * 4, MOST_HEADS)
  lanesLooked = lanesLooked + #ids
end

-- The best job of a source, nil for none. Lanes whose heads have not been read begin later than the last one that was.
function bestOf(source)
  while true do
    local front = source.fronts[source.first]
    if front and (source.exhausted or not after(front, source.last)) then
      if not isPassedOver(front.name, source.kind) then return front end
      if passedOver then passOver(source, { id = front.id, due = front.due, lane = front.lane, front = front }) end
      source.first = source.first + 1
    elseif source.exhausted then
      return nil
    else
      readHeads(source)
    end
  end
end

-- Reads on in a lane, and sets `step`. If many are due at one time, their ids come without scores, which are costly as text. The first read of
-- few takes jobs that are not due as well (`firsts`), so that the script knows who comes next.
local function readJobs(front, count, areMany)
  front.step = 2
  if front.read > 0 then return redis.call('ZRANGE', front.key, '-inf', digits(front.dueBy), 'BYSCORE', 'LIMIT', front.read, count, 'WITHSCORES') end
  if areMany then
    local same = redis.call('ZCOUNT', front.key, front.dueText, front.dueText)
    if same > MANY_AT_ONCE then
      front.step = 1
      return redis.call('ZRANGE', front.key, 0, math.min(count, same) - 1)
    end
    return redis.call('ZRANGE', front.key, '-inf', digits(front.dueBy), 'BYSCORE', 'LIMIT', 0, count, 'WITHSCORES')
  end
  local firsts = redis.call('ZRANGE', front.key, 0, count - 1, 'WITHSCORES')
  local last = #firsts
  front.firsts, front.areAllFirsts = firsts, last < 2 * count
  while last > 0 and tonumber(firsts[last]) > front.dueBy do last = last - 2 end
  return last == #firsts and firsts or { unpack(firsts, 1, last) }
end

-- Makes a front of a lane of which nothing has been read. Answers whether the lane has a due job.
function readFirst(front)
  front.read, front.chunk = 0, FIRST_READ + 1
  local jobs = readJobs(front, front.chunk, false)
  if not jobs[1] then return false end
  front.jobs, front.read = jobs, #jobs / 2
  front.exhausted = front.read < front.chunk
  front.id, front.dueText, front.due, front.head = jobs[1], jobs[2], tonumber(jobs[2]), { jobs[1], jobs[2] }
  return true
end

-- Moves a lane's front to its next due job; false when there is none. `chunk`: one more than may be taken of a lane that stands alone, else FIRST_READ.
function advance(front, chunk)
  local at = front.at + front.step
  local jobs = front.jobs
  if not jobs[at] then
    if front.exhausted then return false end
    -- The first read begins with the head again, hence one more. Of many jobs it also proves that the lane begins with the head; its jobs are
    -- then removed by rank.
    local isFirst, areMany = not front.chunk, not front.chunk and chunk > MANY_AT_ONCE
    if isFirst then front.read = 0 end
    if isFirst then
      front.chunk = (areMany and chunk or math.min(chunk, FIRST_READ)) + 1
    else
      -- No more than may be taken, where that is known: due times are costly as text.
      front.chunk = chunk > FIRST_READ and math.min(front.chunk * 4, chunk + 1) or front.chunk * 4
    end
    jobs = readJobs(front, front.chunk, areMany)
    local count = #jobs / front.step
    front.exhausted = front.step == 2 and count < front.chunk
    front.read = front.read + count
    -- The first one is taken already; where somebody has damaged the index, it is another one, and the taken one may come later.
    if areMany and jobs[1] == front.id then front.inOrder = true end
    at = areMany and front.step + 1 or 1
    front.jobs = jobs
    if not jobs[at] then
      front.at = at - front.step
      return not front.exhausted and advance(front, chunk)
    end
  end
  if not front.inOrder and jobs[at] == front.head[1] then
    front.at = at
    return advance(front, chunk)
  end
  front.at, front.id = at, jobs[at]
  if front.step == 2 then
    front.dueText = jobs[at + 1]
    front.due = tonumber(front.dueText)
  end
  return true
end
