-- How much this worker may claim now. Its own room is the queue's concurrency less the weights of what it runs; a handler
-- may have a weight of its own, and a limit of its own. What all workers share is the gate's (see gate.lua).
-- Job name -> its weight, and how many more its handler may run; nil where no name has one of its own.
local handlers
do
  local names = nextList(3)
  for i = 1, names.n do
    handlers = handlers or {}
    handlers[names[1][i]] = { weight = tonumber(names[2][i]), free = tonumber(names[3][i]) }
  end
end

local active, leaving = 0, 0
if globalConcurrency > 0 then
  active = redis.call('ZCARD', activeKey)
  -- What is settled or recovered here makes room; a dead one that was recovered stands among the settlements.
  leaving = #gone + #settlements + #returning
end

-- `isShut`: by a pause or by the rate, so that it helps nobody to wait for a place.
local gateRoom, gateUntil, isShut, rate = math.huge, math.huge, false, nil
if room > 0 then
  local pauseEnds = pausedUntil()
  -- What is relayed runs elsewhere, and holds no place.
  if globalConcurrency > 0 and relayTo == '' then
    gateRoom, gateUntil = math.max(0, globalConcurrency - active + leaving - offers.held), offers.ends
  end
  if rateMax > 0 then
    rate = readRate()
    local rateRoom = math.max(0, rateMax - (rate.total - rate.before))
    if rateRoom <= gateRoom then gateRoom, gateUntil, isShut = rateRoom, rate.opensAt, rateRoom == 0 end
  end
  if pauseEnds > now then gateRoom, gateUntil, isShut = 0, pauseEnds, true end
end
