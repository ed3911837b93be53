-- Whom this turn wakes: for each freed lane, as somebody else may claim its next job, and for the groups that are left. Mostly nobody sleeps but this session. Read phase.
-- @needs parts/clock.lua
-- @takes me, sleepingKey, sleepersKey, freed, name, stopped, outlook
-- @changes wakeOthers
if stopped or outlook.fills or freed[1] then
  local awakeFrom = digits(now - ON_ITS_WAY_MS)
  local crews = redis.call('ZRANGE', sleepingKey, awakeFrom, '+inf', 'BYSCORE', 'LIMIT', 0, 2)
  local sleepers = redis.call('ZRANGE', sleepersKey, awakeFrom, '+inf', 'BYSCORE', 'LIMIT', 0, 2)
  local isOwnAlone = not crews[1] or crews[1] == me.crew and not crews[2]
  if not isOwnAlone or sleepers[1] and (sleepers[1] ~= me.session or sleepers[2]) then
    -- @include turn/in-order/wake-others.lua
  end
end
