-- sets: what is known of sets: of one, or of those from a place on, those that are not done first, each kind latest first.
-- @keys sets
-- @arg base text: what every key of the queue begins with
-- @arg id text: of one set, '' = of many
-- @arg isDone flag: of many, those that are done; else those that are not
-- @arg from count: how many to pass over
-- @arg limit count: how many to look at at the most
-- @returns isLast '1' | '', ...sets text[]: whether there are no more to look at; eight for each: id, state ('o' open, 'c' closed, 'd' done), when it was opened (epoch ms), how many are pending, how many have completed, are dead, were discarded, were cancelled
-- @repeat it only reads.
-- @needs parts/clock.lua
local found = {}
local function tell(setId, state, openedAt, pending, ...)
  for _, field in ipairs({ setId, state, openedAt, digits(pending), ... }) do found[#found + 1] = field end
end

local function tellOpen(setId)
  local state, openedAt, completed, dead, discarded, cancelled = unpack(redis.call('HMGET', base .. 'set:' .. setId, 'state', 'openedAt', 'completed', 'dead', 'discarded', 'cancelled'))
  if not state then return false end
  tell(setId, state, openedAt, redis.call('HLEN', base .. 'members:' .. setId), completed or '0', dead or '0', discarded or '0', cancelled or '0')
  return true
end

local function tellDone(setId, forgetAt)
  local text = tonumber(forgetAt or 0) > now and redis.call('HGET', base .. 'doneSets', setId)
  local openedAt, completed, dead, discarded, cancelled = string.match(text or '', '^(%d+) %d+ (%d+) (%d+) (%d+) (%d+)$')
  if openedAt then tell(setId, 'd', openedAt, 0, completed, dead, discarded, cancelled) end
end

local looked = 0
if id ~= '' then
  if not tellOpen(id) then tellDone(id, redis.call('ZSCORE', base .. 'setsToForget', id)) end
elseif isDone then
  local done = redis.call('ZRANGE', base .. 'setsToForget', from, from + limit - 1, 'REV', 'WITHSCORES')
  for i = 1, #done, 2 do tellDone(done[i], done[i + 1]) end
  looked = #done / 2
else
  local open = redis.call('ZRANGE', setsKey, from, from + limit - 1, 'REV')
  for _, setId in ipairs(open) do tellOpen(setId) end
  looked = #open
end
return { looked < limit and '1' or '', unpack(found) }
