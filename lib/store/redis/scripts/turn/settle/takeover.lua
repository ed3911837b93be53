-- A job that is queued behind a run takes the place of the run at whatever ends it. Where the queued job was cancelled, the run is the last
-- of its id: it ends as cancelled where it would have come back or be dead, or a job whose cancellation was promised would start again.
-- `decided.takeovers`: `over`, ids whose entry in `queued` is to go; `placed`, those of them whose queued job takes the place of the run.
-- @needs turn/settle/lane-after.lua, parts/claim.lua, parts/enter.lua, parts/queued.lua, parts/untag.lua
-- @takes decided, keptHere, settledHere
-- @changes takePlace
local settlements, takeovers = decided.settlements, { over = {}, placed = {} }
decided.takeovers = takeovers
-- A run that has ended leaves the queue, and the queued job enters it. A run that would have come back, or be dead, is replaced instead.
local COUNTED = {
  complete = { 'completed', 'scheduled' }, discard = { 'discarded', 'scheduled' }, cancel = { 'cancelled', 'scheduled' },
  snooze = { 'snoozed' }, retry = { 'failed' }, f = { 'failed' }, fr = { 'failed' },
}

-- How the run leaves its set; else it was replaced, which counts as cancelled.
local LEAVES_SET = { complete = 'completed', discard = 'discarded' }

-- These leave no attempt to come and no dead letter.
local ENDS = { complete = true, discard = true, cancel = true }

-- Answers the digit of the settlement (see other-settlements.lua), nil where the run ends by itself. `how` it ended: its transition or, for
-- `dead`, its flags. A queued job comes first: no script leaves both marks, but one that did must not lose the job.
function takePlace(id, claim, how, crashed)
  if hasMark(claim.marks, 'f') and not hasMark(claim.marks, 'q') and not ENDS[how] then
    keptHere[id], settledHere[id] = true, true
    settlements[#settlements + 1] = { transition = 'cancel', id = id, claim = claim, counted = COUNTED[how], reason = '"cancel"' }
    return '4'
  end
  if not hasMark(claim.marks, 'q') then return nil end
  takeovers.over[#takeovers.over + 1] = id
  local queued = readQueued(id)
  if not queued then return nil end
  keptHere[id], settledHere[id] = true, true
  -- In the set of both it stays as one member, and counts by what becomes of the queued job.
  untagJob(id, tagsWithout(claim.tags, queued.tags), LEAVES_SET[how] or 'cancelled')
  queued.crashes = claim.crashes + (crashed and 1 or 0)
  queued.lane = laneAfter(queued.lane, queued.crashes)
  enterLane(queued.lane)
  settlements[#settlements + 1] = { transition = 'takePlace', id = id, claim = claim, queued = queued, counted = COUNTED[how] }
  return '3'
end
