-- Gives a recurrence whose state is lost a new one. Nothing tells any more which instants were decided, so it goes on after now: an instant
-- that may have begun does not begin again. Its armed job may still wait, and is armed again then; what else stands in a state is lost.
-- @takes jobsKey, now, textOf, findWaiting, hasBegun, nextAfter, passTo, noteChanged, armNext
-- @gives NOT_RECKONED, stateAnew, goOn
-- In the place of the version of the time-zone data, until a process has reckoned instants: see refill.lua.
NOT_RECKONED = ''

function stateAnew(entry)
  local rule = entry.rule
  entry.state = {
    state = rule.timing == 'off' and 'o' or 'a', armed = 0, passed = now, began = 0, count = 0, held = 0, wall = 0, changed = now,
    zones = NOT_RECKONED, list = rule.everyMs > 0 and '-' or '', reason = '',
  }
  noteChanged(entry)
end

-- Arms the first instant after now that has not begun. To be called once the instants are known.
function goOn(entry)
  local state = entry.state
  if state.passed < now then passTo(entry, now) end
  local at = nextAfter(entry, state.passed)
  while at do
    local id = entry.id .. '@' .. textOf(at)
    local envelope = redis.call('HGET', jobsKey, id)
    if envelope and findWaiting(id, envelope) then
      state.armed = at
      return noteChanged(entry)
    end
    if not hasBegun(id, envelope) then
      -- It is there in part, so it does not count as another job of this instant.
      if envelope then entry.old = { id = id } end
      break
    end
    passTo(entry, at)
    at = nextAfter(entry, at)
  end
  armNext(entry)
end
