-- Finds what Redis has lost of recurrences: records without a state, and states without a record. Each recurrence has both, so two counts
-- tell whether a walk has to look for them. The counts of a walk that has nothing to tell cost less than a microsecond.
-- `losses`: ids that a walk has found, `states` of those that have a new state, `records` of those that cannot go on.
-- @takes base, now, digits, parseRecord, parseState, formatState, stateAnew, goOn
-- @gives losses, isSomeLost, noteUnrecorded, walkRecords, writeLost
-- A process that declares the recurrence brings its record back within seconds; count and pause are kept so long.
local UNRECORDED_MS = 60000
-- In the place of the version of the time-zone data.
local UNRECORDED = 'unrecorded'
-- Records hold payloads, so a step of a walk reads fewer of them than of states.
local RECORDS_FOR_STATES = 5
losses = { states = {}, records = {} }
isSomeLost = false
local states = {}

-- `text`: the state of a recurrence that has no record. Answers whether it is to be forgotten.
function noteUnrecorded(id, text)
  local state = parseState(text)
  if not state then return true end
  if state.zones == UNRECORDED then return state.changed <= now - UNRECORDED_MS end
  state.changed, state.zones = now, UNRECORDED
  losses.records[#losses.records + 1] = id
  states[#states + 1] = id
  states[#states + 1] = formatState(state)
  return false
end

-- One step of a walk through the records: gives those a state that have none. Answers where to go on, '0' = it is over; and the entries.
function walkRecords(cursor, limit)
  local step = redis.call('HSCAN', base .. 'recurrences', cursor, 'COUNT', math.ceil(limit / RECORDS_FOR_STATES))
  local ids, records, entries = {}, {}, {}
  for i = 1, #step[2], 2 do
    local id = step[2][i]
    -- A step may tell one twice.
    if not records[id] then ids[#ids + 1], records[id] = id, step[2][i + 1] end
  end
  if not ids[1] then return step[1], entries end
  for i, state in ipairs(redis.call('HMGET', base .. 'timetable', unpack(ids))) do
    if not state then
      local id = ids[i]
      local entry = { id = id, text = records[id], rule = parseRecord(records[id]) }
      if entry.rule then
        stateAnew(entry)
        if entry.state.state == 'a' then
          losses.states[#losses.states + 1] = id
          if entry.rule.everyMs > 0 then goOn(entry) end
          entries[#entries + 1] = entry
        end
      else
        -- Nobody can read the record: it is forgotten like one that has ended.
        states[#states + 1] = id
        states[#states + 1] = 'e 0 0 0 0 0 0 ' .. digits(now) .. ' |'
      end
    end
  end
  return step[1], entries
end

function writeLost()
  if states[1] then redis.call('HSET', base .. 'timetable', unpack(states)) end
end
