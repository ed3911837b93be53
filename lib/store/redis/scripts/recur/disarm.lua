-- Takes armed jobs away, or lets the job of the same instant be made anew in the place of the old one. A script calls `disarm`, then what
-- arms the next ones (recur/arm.lua), then `resolveDisarmed`, and at last `writeDisarmed`.
-- @needs parts/envelope-tags.lua, parts/clock.lua, parts/endings.lua, parts/lanes.lua, parts/queued.lua, parts/untag.lua, parts/waiting.lua
-- @takes jobsKey, changedEntries, noteChanged, counted
-- @gives disarm, resolveDisarmed, writeDisarmed
local deletedIds = {}

-- Answers when that job was due; nil where there was none.
function disarm(entry)
  local state = entry.state
  local at = state.armed
  state.armed, state.blockedDue = 0, 0
  noteChanged(entry)
  if at == 0 then return nil end
  local id = entry.id .. '@' .. digits(at)
  local envelope = redis.call('HGET', jobsKey, id)
  local lane, due = nil, nil
  if envelope then lane, due = findWaiting(id, envelope) end
  if not lane then return nil end
  openLane(lane)
  entry.old = { id = id, lane = lane, due = due, envelope = envelope, tags = tagsOf(envelope) }
  return tonumber(due)
end

function resolveDisarmed()
  for _, entry in ipairs(changedEntries) do
    -- One without a lane was there in part.
    local old = entry.old and entry.old.lane and entry.old
    if old and entry.targetId == old.id then
      if old.lane ~= entry.targetLane then takeFromLane(openLane(old.lane), old.id) end
      untagJob(old.id, tagsWithout(old.tags, entry.targetTags or ''))
    elseif old then
      takeFromLane(openLane(old.lane), old.id)
      untagJob(old.id, old.tags)
      counted.cancelled = (counted.cancelled or 0) + 1
      deletedIds[#deletedIds + 1] = old.id
      noteEnding(old.id, old.envelope, old.due, '"recurrence"')
    end
  end
end

function writeDisarmed()
  if deletedIds[1] then redis.call('HDEL', jobsKey, unpack(deletedIds)) end
  writeUntagged()
  writeEndings()
end
