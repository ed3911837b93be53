-- Makes or changes a recurrence.
-- @needs parts/clock.lua, recur/arm.lua, recur/has-begun.lua, recur/disarm.lua, recur/next.lua, recur/record.lua, recur/tended.lua
-- @takes base, jobsKey
-- @gives putRecurrence, writeRecords
local records = {}

-- Whether a list of instants, reckoned from an instant on, holds all that are later than `from`, and enough of them to arm the first: its
-- jitter ends before the second.
local function isKnownAfter(given, from, jitterMs)
  if given.reckonedFrom > from then return false end
  if string.sub(given.list, -1) == '.' then return true end
  local later = 0
  for at in string.gmatch(' ' .. given.list, ' (%d+)') do
    if tonumber(at) > from then later = later + 1 end
  end
  return later >= (jitterMs > 0 and 2 or 1)
end

local function newState()
  return { state = 'a', armed = 0, reached = 0, began = 0, count = 0, blockedDue = 0, wall = 0, changed = now, zones = '', list = '', reason = '' }
end

-- Takes the armed one away, and answers when it was due. One that has begun with nobody to judge it stays, and is not armed again.
local function takeArmed(entry)
  local at = entry.state.armed
  local due = disarm(entry)
  if due or at == 0 then return due end
  local id = entry.id .. '@' .. digits(at)
  if not hasBegun(id, redis.call('HEXISTS', jobsKey, id) == 1) then return nil end
  noteBegun(entry, at)
  return nil, true
end

-- Its job is another one; when it is due stays.
local function rearm(entry, state)
  if state.state ~= 'a' then return noteChanged(entry) end
  local at, blockedDue = state.armed, state.blockedDue
  local due, isBegun = takeArmed(entry)
  if entry.rule.limit > 0 and state.count >= entry.rule.limit then
    state.state, state.changed = 'e', now
  elseif isBegun then
    armNext(entry)
  elseif at > 0 then
    armAt(entry, at, due)
    state.blockedDue = blockedDue
  end
end

-- `given`: `head`, `owner`, `ruleText`, `route`, `rest` of the record (see recur/record.lua), the `list` of instants that was reckoned from
-- `reckonedFrom` on, and the `zones` it was reckoned with. Answers 'created', 'changed' or 'unchanged'; or 'again', and from when on instants are to be reckoned, where
-- the list does not tell the first one: nothing has changed then.
function putRecurrence(entry, given)
  local before, state = entry.rule, entry.state
  local isNew = not before or not state or state.state == 'o'
  local body = given.head .. '\n' .. given.owner .. '\n' .. given.ruleText .. '\n' .. given.route .. '\n' .. given.rest
  if not isNew and entry.text == before.version .. ' ' .. body then return 'unchanged' end
  local isTimed = isNew or state.state == 'e' or before.timing ~= string.match(given.head, '%w+$')
  local version = before and before.version or '0'
  if isTimed then version = digits(math.max(now, tonumber(version) + 1)) end
  local text = version .. ' ' .. body
  local rule = parseRecord(text)
  local from = math.max(now, state and state.reached or 0)
  if isTimed and rule.everyMs == 0 and not isKnownAfter(given, from, rule.jitterMs) then return 'again', from end

  entry.state = state or newState()
  state = entry.state
  if isTimed then
    -- With the rule before: the one that is armed may be armed again.
    if entry.rule then takeArmed(entry) else disarm(entry) end
    entry.rule = rule
    if state.state ~= 'p' then state.state = 'a' end
    state.list, state.zones, state.changed = given.list, given.zones, now
    advanceTo(entry, math.max(from, state.reached))
    if state.state == 'a' then
      armNext(entry)
    else
      noteChanged(entry)
    end
  else
    entry.rule = rule
    rearm(entry, state)
  end
  records[#records + 1] = entry.id
  records[#records + 1] = text
  return isNew and 'created' or 'changed'
end

-- The first write of a script: a full memory refuses the call whole.
function writeRecords()
  if not records[1] then return end
  redis.call('HSET', base .. 'recurrences', unpack(records))
  beTended()
end
