-- A made id whose call ended in an error may come back as a chosen one ('m'). Its maker's ids grow, and after a call that failed
-- the maker goes on under another name: so of its calls under this name all but the last were answered, and its receipt,
-- "<number> <lowest id of the last call> <highest id> …", tells whether the call ran, even when its job is gone by then.
-- An id of an earlier call comes back where the error was that of several calls together; like any chosen id it may be used
-- again after a while, which the time in it tells.
-- @needs parts/clock.lua
-- @takes base, usedIdsKey, keepReceiptMs
-- @gives ranUnanswered, isRemembered
local MADE_TIME_DIGITS = 9

function ranUnanswered(id, chosen)
  if chosen ~= 'm' then return false end
  local receipt = redis.call('GET', base .. 'receipt:' .. string.sub(id, -6))
  local lowest, highest = string.match(receipt or '', '^%d+ (%w+) (%w+)')
  if not lowest or id > highest then return false end
  return lowest <= id or now - tonumber(string.sub(id, 1, MADE_TIME_DIGITS), 36) < tonumber(keepReceiptMs)
end

-- Whether a chosen id is remembered of a job that has ended.
function isRemembered(id)
  local forgetAt = redis.call('ZSCORE', usedIdsKey, id)
  return forgetAt and tonumber(forgetAt) > now
end
