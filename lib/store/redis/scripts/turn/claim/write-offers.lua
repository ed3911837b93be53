-- Writes the offers that this turn has made, and ends those that are over. A relay makes none.
-- @takes settings, me, outlook, offers, awaited, fit, offersKey, now, digits, OFFER_MS
-- How long the offers of a queue that nobody uses any more stay.
local FORGOTTEN_OFFER_MS = 60000
-- All places are used up again, or kept for others.
local isFilled = outlook.activeAfter >= settings.globalConcurrency
for _, member in ipairs(offers.over) do
  if isFilled or (fit[1] and string.find(member, me.session .. ' ', 1, true) == 1) then
    redis.call('ZREM', offersKey, member)
  else
    redis.call('ZADD', offersKey, 'XX', 0, member)
  end
end
-- A sleeper that was told counts as on its way, and is offered nothing more before it has listed itself again.
for _, each in ipairs(offers.unheard or {}) do
  local group = each.group
  redis.call('ZREM', group.key, each.session)
end
for _, each in ipairs(offers.made or {}) do
  local group = each.group
  redis.call('ZADD', group.key, 'XX', digits(now), each.session)
  redis.call('ZADD', offersKey, digits(now + OFFER_MS), each.session .. ' ' .. each.job)
end
if awaited then redis.call('ZADD', offersKey, digits(now + OFFER_MS), me.session .. ' ' .. awaited) end
if awaited or offers.made and offers.made[1] then redis.call('PEXPIRE', offersKey, FORGOTTEN_OFFER_MS) end
