-- What the scripts read of an envelope (see envelope.ts): its first line, the route, is "<lane>" or "<late rule> <lane>";
-- its second "<created> <flags>" and the tags, a tab before each. A lane is "<priority>:<worker>:<name>", so its first byte tells whether a late rule comes
-- before it: 'r' run, 'd' discard or 'x' dead-letter what is claimed more than so many ms after its due time.
local BYTE_9 = 57

local function laneOfRoute(route)
  return string.byte(route) <= BYTE_9 and route or string.match(route, '^%l%d+ (.*)$')
end

-- An envelope that somebody has damaged is in no lane.
local function laneOf(envelope)
  return string.match(envelope, '^(%d+:[^:\n]*:[^\n]*)\n') or string.match(envelope, '^%l%d+ (%d+:[^:\n]*:[^\n]*)\n') or ''
end

local function nameOf(lane)
  return string.match(lane, '^%d+:[^:]*:(.*)$')
end

-- The worker that a lane's jobs prefer, '' for none. Suspects, whose lanes have a '!' there, prefer none.
local function preferredOf(lane)
  return string.match(lane, '^%d+:!?([^:]*):')
end

-- The lane in which a job of this lane lies as a suspect.
local function suspectLane(laneName)
  return (string.gsub(laneName, '^(%d+):[^:]*:', '%1:!:'))
end

local function idWasChosen(envelope)
  return string.find(envelope, '^[^\n]*\n%d+ c') ~= nil
end

-- The tags, a tab before each; '' for none. Of an envelope, and of what follows its time, which begins with the flags.
local function tagsOf(envelope)
  -- Most have none, and a small one is looked through faster than it is matched.
  if #envelope < 1000 and not string.find(envelope, '\t', 1, true) then return '' end
  return string.match(envelope, '^[^\n]*\n%d+ %l*(\t[^\n]*)') or ''
end

local function tagsOfFlags(flags)
  return string.match(flags, '^%l*(\t[^\n]*)') or ''
end
