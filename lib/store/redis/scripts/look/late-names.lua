-- late-names: the versioned names of jobs that have been due for so long, those of so many lanes at a time.
-- @keys levels
-- @arg base text: what every key of the queue begins with
-- @arg from text: where to go on, '' = from the start
-- @arg costLeft count: how many lanes to look into at the most
-- @arg lateMs ms: for how long
-- @returns next text, ...names text[]: where to go on, '' = no lane is left; names, each once
-- @repeat it only reads.
-- @needs parts/clock.lua, parts/envelope.lua, look/each-lane.lua
local names, isKnown = {}, {}
local goOn = eachLane(from, digits(now - lateMs), costLeft, function(lane)
  local name = versionedNameOf(lane)
  if not isKnown[name] then
    isKnown[name] = true
    names[#names + 1] = name
  end
  return 1
end)
return { goOn, unpack(names) }
