-- A job that is queued behind a run takes the place of the run at whatever ends it.
-- `takeovers`: `over`, ids whose entry in `queued` is to go; `placed`, those of them whose queued job takes the place of the run.
-- @takes queuedKey, laneOf, tagsOf, hasMark, laneAfter, untagJob, enterLane, settlements, keptHere, settledHere
-- @changes takeovers, takePlace
-- @include jobs/queued.lua
takeovers = { over = {}, placed = {} }
-- A run that has ended leaves the queue, and the queued job enters it. A run that would have come back, or be dead, is replaced instead.
local COUNTED = {
  complete = { 'completed', 'scheduled' }, discard = { 'discarded', 'scheduled' }, cancel = { 'cancelled', 'scheduled' },
  snooze = { 'snoozed' }, retry = { 'failed' }, f = { 'failed' }, fr = { 'failed' },
}

-- Puts the queued job, if there is one, in the place of this run. `how` the run ended: its transition or, for `dead`, its flags.
function takePlace(id, claim, how, crashed)
  if not hasMark(claim.marks, 'q') then return false end
  takeovers.over[#takeovers.over + 1] = id
  local queued = readQueued(id)
  if not queued then return false end
  keptHere[id], settledHere[id] = true, true
  untagJob(id, tagsWithout(claim.tags, queued.tags))
  queued.crashes = claim.crashes + (crashed and 1 or 0)
  queued.lane = laneAfter(queued.lane, queued.crashes)
  enterLane(queued.lane)
  settlements[#settlements + 1] = { transition = 'takePlace', id = id, queued = queued, counted = COUNTED[how] or {} }
  return true
end
