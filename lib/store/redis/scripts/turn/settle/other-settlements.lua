-- Every settlement but a plain completion. It counts only where the session's fence is the one in the claim. Where the
-- job is to be cancelled, any settlement ends it as cancelled; digit 2 says so. Where another job is queued behind it, that one takes
-- its place at every end; digit 3 says so. Where that one was cancelled, a settlement after which the job would wait or be dead ends it as
-- cancelled; digit 4 says so.
-- Transitions, with their two arguments:
--   complete  flags ('r': the caller chose the id, remember it)   result to keep
--   retry     delay (ms)                                          failure, one line
--   dead      flags ('n': this attempt never began; 'f': it threw; 'r': the caller chose the id, remember it once the job is
--             pushed out of the dead)                             failure, one line, with the reason
--   snooze    due (> 0: at, epoch ms; <= 0: minus the delay in ms)  ''          (goes back, uses no attempt)
--   discard   flags ('r' as above)                                reason, as JSON, where it is to be kept
--   release   ''                                                  ''          (goes back, uses no attempt)
--   cancel    ''                                                  ''
--   extend    how long from now its lease is to hold (ms)         ''          (stays with its holder)
-- A result, a failure or '' in the second argument may be followed by a tab and the last progress of the run. JSON holds no tab.
-- `otherClaims`: the claims of these jobs. `keepsCompleted`: whether the queue keeps jobs that have completed.
-- Needed only where there are such settlements, so a turn of a drain makes none of these functions.
-- @needs parts/claim-text.lua, parts/claim.lua, parts/enter.lua, parts/untag.lua, turn/claims.lua
-- @takes keepsCompleted, decided, report, completedCount, uncommon, others, otherClaims, jobsKey, failuresKey, takePlace, endJob, endsHere, keptHere, settledHere, grouping
-- @changes extended
local bits, settlements = report.bits, decided.settlements

-- A text that is no finite number would stop the script in the middle of its writes; 0, at once, is the safe number.
local function finite(text)
  local number = tonumber(text)
  return number and number == number and math.abs(number) < math.huge and number or 0
end

local function settle(s)
  keptHere[s.id], settledHere[s.id] = true, true
  local reported = string.find(s.second, '\t', 1, true)
  if reported then s.second, s.claim.progress = string.sub(s.second, 1, reported - 1), string.sub(s.second, reported + 1) end
  if s.transition == 'complete' and keepsCompleted then
    s.envelope = redis.call('HGET', jobsKey, s.id)
  elseif s.second ~= '' and s.transition ~= 'discard' then
    s.failures = redis.call('HGET', failuresKey, s.id)
  end
  if s.transition == 'retry' or s.transition == 'snooze' then s.first = finite(s.first) end
  if s.transition == 'retry' or s.transition == 'release' or s.transition == 'snooze' then enterLane(s.claim.lane) end
  settlements[#settlements + 1] = s
end

-- Once, however many settlements of the job come in one turn.
local function cancelHeld(id, text)
  if endsHere(id) then return '2' end
  local claim = parseClaim(text)
  if claim and takePlace(id, claim, 'cancel') then return '2' end
  settle({ transition = 'cancel', id = id, first = '', second = '', claim = claim or { tags = tagsOfClaim(text) } })
  return '2'
end

-- The job has completed and leaves nothing behind.
local function endCompleted(id, text)
  endJob(id, tagsOfClaim(text), 'completed')
  local group = grouping and groupOfClaim(text)
  if group then grouping.ended[#grouping.ended + 1], grouping.ended[#grouping.ended + 2] = id, group end
  return '1'
end

-- A common settlement whose claim has marks, or another fence: `marks` is nil then.
local function endMarked(id, text, marks)
  if not marks then return '0' end
  if hasMark(marks, 'c') then return cancelHeld(id, text) end
  local claim = parseClaim(text)
  return claim and takePlace(id, claim, 'complete') or endCompleted(id, text)
end

for _, ended in ipairs(uncommon) do bits[ended.index] = endMarked(ended.id, ended.claim, marksOf(ended.claim, ended.fence)) end

extended = {}
for i = 1, others.n do
  local transition, id, fence, first, second = others[1][i], others[2][i], others[3][i], others[4][i], others[5][i]
  local marks = marksOf(otherClaims[i], fence)
  local claim, bit = marks and parseClaim(otherClaims[i]), '0'
  if claim and hasMark(claim.marks, 'c') then
    bit = cancelHeld(id, otherClaims[i])
  elseif claim and transition == 'extend' then
    bit = '1'
    extended[#extended + 1] = { id = id, leaseMs = finite(first) }
  elseif claim then
    bit = takePlace(id, claim, transition == 'dead' and first or transition) or '1'
    if bit == '1' then settle({ transition = transition, id = id, first = first, second = second, claim = claim }) end
  end
  bits[completedCount + i] = bit
end
