-- `paused` holds until when nothing of the queue is claimed (epoch ms), or 'inf'. What is neither pauses nothing.
-- Needs `pausedKey`.
local function pausedUntil()
  local text = redis.call('GET', pausedKey)
  if text == 'inf' then return math.huge end
  return tonumber(text or 0) or 0
end
