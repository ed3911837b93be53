-- Which of the chosen ids are those of jobs that are there already, or ended lately.
-- `letterOf`: the letter of a duplicate, false where the id is free. `seen`, `goingOn`, `duplicates`: see schedule.lua.
-- @needs parts/clock.lua, schedule/made.lua, parts/envelope.lua, parts/claim.lua, parts/waiting.lua
-- @takes jobsKey, claimsKey, chosenIds, seen, duplicates, goingOn
-- @changes letterOf
local envelopes = {}
for i, envelope in ipairs(redis.call('HMGET', jobsKey, unpack(chosenIds))) do envelopes[chosenIds[i]] = envelope end

-- A job that is there already: its letter, its name, and its due time, from its lane or, once it was claimed, from its claim. `goesOn`: of
-- a run that was to be the last of its id, its claim without the mark of that.
local function readThere(id, envelope)
  local name = nameOf(laneOf(envelope))
  local _, due = findWaiting(id, envelope)
  if due then return { letter = 'w', due = due, name = name } end
  local text = redis.call('HGET', claimsKey, id) or ''
  local claim = parseClaim(text) or { due = now }
  local there = { letter = claim.fence == '0' and 'd' or 'a', due = digits(claim.due), name = name }
  if hasMark(claim.marks, 'f') then there.goesOn = remarked(text, 'f', '') end
  return there
end

function letterOf(id, chosen, name)
  local there = seen[id] or envelopes[id] and readThere(id, envelopes[id])
  if there then
    -- The name of an envelope that somebody has damaged cannot be told.
    local isTaken = there.name and there.name ~= name
    if there.goesOn and not isTaken then goingOn[#goingOn + 1], goingOn[#goingOn + 2] = id, there.goesOn end
    duplicates[#duplicates + 1] = isTaken and there.due .. ' ' .. there.name or there.due
    return isTaken and 't' or there.letter
  end
  return (isRemembered(id) or ranUnanswered(id, chosen)) and 'e'
end
