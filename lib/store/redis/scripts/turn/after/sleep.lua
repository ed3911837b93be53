-- When this session looks again. Each reason to look has an instant, and the earliest one wins.
-- `outlook.lookAt`: 0 for when there is capacity. `outlook.handOverAt`: when another session of the crew has to look in the place of this
-- one, which stops looking; math.huge for never.
-- `nextEvent`: see turn/after/next-event.lua.
-- @needs parts/clock.lua
-- @takes me, outlook, handlers, stopped, nextCursor, nextEvent, yield, firstLeaseEnd, grace, base, sleepersKey, grouping
local isOvertaken = stopped == 'size' or stopped == 'limit'
local hasMore = stopped == 'size' or outlook.looksAgain or nextCursor ~= '' or grouping and grouping.areSomeUnseen
-- The earliest instant of all reasons; and until when this session sleeps at most, false where it does not stand among the sleepers.
local lookAt, sleepsUntil = math.huge, false
outlook.lookAt, outlook.handOverAt = 0, math.huge
if hasMore or isOvertaken then
  -- Jobs that this turn put back or added may be due already; where a look was cut short, there may be more to fetch.
  if hasMore then lookAt = now end
  -- The best job does not fit before something that runs here has ended. But others may take it, or a better one come that does fit, and
  -- nobody tells a session that does not stand among the sleepers.
  if stopped == 'limit' then lookAt = math.min(lookAt, now + DEPUTY_MS) end
  -- For jobs that are left, a session of the crew is woken anyway (see wake-others.lua).
  if (outlook.stopsLooking or outlook.fills) and not isOvertaken then outlook.handOverAt = now end
elseif outlook.limitAfter > 0 or outlook.stopsSleeping or outlook.fills then
  local nextJobAt, nextOwnJobAt = nextEvent()
  if outlook.stopsSleeping or outlook.fills then outlook.handOverAt = nextJobAt end
  if outlook.limitAfter > 0 then
    -- The next event: a job becomes due, or a lease runs out. One sleeper of a crew looks then, and a deputy half a second later.
    local eventAt = firstLeaseEnd and math.min(nextJobAt, math.max(firstLeaseEnd, grace.recoverFrom, now + 1)) or nextJobAt
    -- This session looks before a later event anyway, so other sleepers need not be read.
    if not outlook.sleepUntil or eventAt < outlook.sleepUntil then
      -- `pcall`: a key of somebody else's type must not stop the script in the middle of its writes. The next turn whose first write is to this
      -- key reports it. Three: this session and two others.
      local found, first, second = redis.pcall('ZRANGE', sleepersKey, digits(now - ON_ITS_WAY_MS), '+inf', 'BYSCORE', 'LIMIT', 0, 3, 'WITHSCORES'), nil, nil
      for i = 1, #found, 2 do
        if found[i] ~= me.session then
          if first then second = second or tonumber(found[i + 1]) else first = tonumber(found[i + 1]) end
        end
      end
      if not first or first > eventAt then
        lookAt = eventAt
      elseif not second or second > eventAt + DEPUTY_MS then
        lookAt = eventAt + DEPUTY_MS
      end
    end
    -- Jobs that prefer this worker are left to nobody: the others may not take them yet.
    if nextOwnJobAt then lookAt = math.min(lookAt, nextOwnJobAt) end
    -- Nobody sleeps longer.
    sleepsUntil = outlook.sleepUntil
    if sleepsUntil then lookAt = math.min(lookAt, sleepsUntil) end
    -- A place is left for a moment: by this session, or for its suspect.
    if yield and yield.lookAt then lookAt = math.min(lookAt, yield.lookAt) end
    -- A look in several turns may have missed what became due in front of it.
    if outlook.looksOn then lookAt = math.min(lookAt, now + DEPUTY_MS) end
  end
end
if outlook.limitAfter > 0 then
  outlook.lookAt = lookAt
  -- A session that looks again at once, or whose best job does not fit, is not put among the sleepers.
  if sleepsUntil and outlook.hears then
    outlook.isSleeper = true
    -- @include turn/after/list-sleeper.lua
  end
end
