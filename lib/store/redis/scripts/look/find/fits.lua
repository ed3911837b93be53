-- Which jobs a search wants. First a job is judged by its envelope alone, which costs little, and only then by all that is known of it.
-- @needs parts/envelope-tags.lua, parts/envelope.lua, parts/claim.lua
-- @takes idPrefix, names, tags, group, states, dueFrom, dueTo
-- @gives fitsEnvelope, fitsKnown
local wantedNames = names ~= '' and {} or nil
for name in string.gmatch(names, '[^\n]+') do wantedNames[name] = true end
local wantedStates = {}
for state in string.gmatch(states, '%l+') do wantedStates[state] = true end

function fitsEnvelope(id, envelope)
  if string.sub(id, 1, #idPrefix) ~= idPrefix then return false end
  if wantedNames and not wantedNames[nameOf(laneOf(envelope)) or ''] then return false end
  if group ~= '' and string.match(laneOf(envelope), '^%d+:@([^:]*)') ~= group then return false end
  if tags == '' then return true end
  local carried = tagsOf(envelope) .. '\t'
  for tag in string.gmatch(tags, '[^\t]+') do
    if not string.find(carried, '\t' .. tag .. '\t', 1, true) then return false end
  end
  return true
end

-- `known`: what look/known.lua tells of a job.
function fitsKnown(known)
  local now, state, due = tonumber(known[1]), known[2], nil
  if state == 'waiting' then
    due = tonumber(known[3])
    state = due <= now and 'due' or 'scheduled'
  elseif state == 'completed' then
    due = tonumber(string.match(known[7], '^%d+ (%d+)'))
  else
    due = (parseClaim(known[5]) or { due = 0 }).due
  end
  return wantedStates[state] and due and due >= dueFrom and due < dueTo or false
end
