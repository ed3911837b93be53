-- A claim record: "<fence> <attempt> <crashes> <due> <holder> <lane>" and the job's tags, a tab before each. Fence 0 and
-- holder "-": nobody holds the job.
-- It exists from a job's first claim on, and outlives it while the job waits for its next attempt or lies dead.
-- Letters behind the fence are marks for rare cases:
--   c  somebody wants the running job cancelled
--   q  another job is queued behind the running one (see queued.lua)
--   u  unconfirmed: nobody knows whether the claim has reached its worker, which begins none of its jobs before it has renewed them
--   r  of a dead job: its id is to be remembered once the job is pushed out
-- A marked record does not begin with its holder's fence and a space, so ordinary settlements pay nothing for marks.
local isHeld
do
  -- How the records of held jobs begin, by fence: a turn settles hundreds of the same one.
  local heldPrefixes = {}
  function isHeld(record, fence)
    local prefix = heldPrefixes[fence]
    if not prefix then
      prefix = fence .. ' '
      heldPrefixes[fence] = prefix
    end
    return record and string.find(record, prefix, 1, true) == 1
  end
end

-- The marks of a record that is held under this fence, '' for none; nil where the fence is another one.
local function marksOf(record, fence)
  if not record or string.sub(record, 1, #fence) ~= fence then return nil end
  return string.match(record, '^(%l*) ', #fence + 1)
end

local function hasMark(marks, mark)
  return marks and string.find(marks, mark, 1, true) ~= nil
end

local function parseRecord(record)
  local fence, marks, attempt, crashes, due, holder, lane, tags = string.match(record, '^(%d+)(%l*) (%d+) (%d+) (%d+) (%S+) ([^\t]*)(.*)$')
  -- One that somebody has damaged is none.
  if not lane then return nil end
  return { fence = fence, marks = marks, attempt = tonumber(attempt), crashes = tonumber(crashes), due = tonumber(due), holder = holder, lane = lane, tags = tags }
end

local function formatRecord(fence, attempt, crashes, due, holder, lane, tags)
  return fence .. ' ' .. attempt .. ' ' .. crashes .. ' ' .. due .. ' ' .. holder .. ' ' .. lane .. tags
end

-- The lane in which a job with so many crashes waits: with one crash left it is a suspect (see suspects.lua).
local function laneFor(lane, crashes)
  return maxCrashes > 1 and crashes >= maxCrashes - 1 and suspectLane(lane) or lane
end

-- `idWasChosen`: of a dead job whose id is to be remembered.
local function unheldRecord(r)
  return formatRecord(r.idWasChosen and '0r' or '0', r.attempt, r.crashes, digits(r.due), '-', r.lane, r.tags)
end
