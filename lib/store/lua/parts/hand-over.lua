-- A pull stands among the sleepers only while somebody waits for it: it goes once it has claimed something, or when nobody
-- waits any more. Then another one of its group looks when this one would have; else what is due next waited for the deputy.
goes = goes or (ARGV[14] == 'wait' and fit[1] ~= nil)
hears = hears and not goes

local handOver
do
  local wasListed = goes and redis.call('ZSCORE', sleepersKey, worker)
  if goes and not groups and (wasListed or lookAgain or goOnFrom ~= '') then readGroups(group, worker) end

  local function handOverAt()
    -- Somebody has been told already where there was more than was claimed.
    if not goes or stopped == 'room' or stopped == 'bytes' then return math.huge end
    if returning[1] or lookAgain or goOnFrom ~= '' then return now end
    if not wasListed then return math.huge end
    -- Without room it has not looked: what became due meanwhile may still be there.
    return room > 0 and nextEvent() or firstDue()
  end

  -- Last in the script.
  function handOver()
    local at = handOverAt()
    if at == math.huge then return end
    for _, g in ipairs(groups or {}) do
      if g.own then wakeGroup(g, at) end
    end
  end
end
