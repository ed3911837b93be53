-- Reads whom this turn wakes: one session for each freed lane, whose next job somebody else may claim, and one of its crew for the groups that are left.
-- First it asks whether anybody else sleeps: usually nobody does, and the parts that wake are then not made.
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
