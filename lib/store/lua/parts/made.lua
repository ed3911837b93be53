-- A made id whose call ended in an error may come back as a chosen one ('m'). Its maker made no call after that one, so the
-- maker's record, "<number> <lowest id> <highest id> …", tells whether the call ran, even when its job is gone by then.
local function ranUnanswered(id, chosen)
  if chosen ~= 'm' then return false end
  local record = redis.call('GET', base .. 'call:' .. string.sub(id, -6))
  local lowest, highest = string.match(record or '', '^%d+ (%w+) (%w+)')
  return lowest ~= nil and lowest <= id and id <= highest
end

-- Whether a chosen id is remembered of a job that has ended. Needs `endedKey`.
local function isRemembered(id)
  local forgetAt = redis.call('ZSCORE', endedKey, id)
  return forgetAt and tonumber(forgetAt) > now
end
