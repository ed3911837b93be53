-- A step through the jobs of a tag, in the order in which they came, from where the last step ended up to the last one that was
-- there at the first step. A job that is tagged meanwhile stands behind the end (see parts/tag.lua), so the steps come to their end, and
-- no job is met twice. One that was queued meanwhile behind a running job of the same tag stands where the running one does: its
-- envelope tells when it was made. `began`: when the first step was taken (epoch ms), 0 = now.
-- Finds the jobs that wait, and those queued behind a running one; running and dead jobs are passed over. `ids`: those of both kinds, in order.
-- @needs parts/envelope-tags.lua, parts/clock.lua, parts/queued.lua, parts/untag.lua, parts/waiting.lua
-- @takes base, jobsKey, tagKey
-- @gives readTagged
-- Envelopes may be large, and a job may have many tags and a lane of its own, each of which costs commands: a step ends after so many
-- bytes, or after so much cost.
local BYTES_A_STEP = 1048576
local COST_A_STEP, COST_OF_LANE, COST_OF_TAG = 260, 1.5, 0.6
-- Tags up to this number are part of the cost of any job.
local FEW_TAGS = 2

function readTagged(from, last, began, limit)
  local text = '\t' .. string.sub(tagKey, #base + #'tag:' + 1)
  if last == '' then last = redis.call('ZRANGE', tagKey, 0, 0, 'REV', 'WITHSCORES')[2] or from end
  local found = redis.call('ZRANGE', tagKey, '(' .. from, last, 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES')
  local step = { ids = {}, waiting = {}, queued = {}, nextFrom = #found < 2 * limit and last or found[#found] }
  if began == 0 then began = now end
  step.walk = last .. ' ' .. digits(began)
  local function hasTag(tags) return string.find(tags .. '\t', text .. '\t', 1, true) ~= nil end
  local function wasMadeBy(envelope, time)
    local madeAt = string.match(envelope, '^[^\n]*\n(%d+)')
    return madeAt and tonumber(madeAt) <= time
  end
  local bytes, cost, known = 0, 0, {}
  for i = 1, #found, 2 do
    if bytes > BYTES_A_STEP or cost > COST_A_STEP then
      step.nextFrom = found[i - 1]
      break
    end
    local id = found[i]
    local envelope = redis.call('HGET', jobsKey, id) or ''
    bytes = bytes + #envelope
    local tags = tagsOf(envelope)
    local isTagged = hasTag(tags)
    local lane, due = findWaiting(id, envelope)
    cost = cost + 1 + COST_OF_TAG * math.max(0, select(2, string.gsub(tags, '\t', '')) - FEW_TAGS)
    if lane and not known[lane] then known[lane], cost = true, cost + COST_OF_LANE end
    local queued = not due and readQueued(id)
    if queued then bytes = bytes + #queued.envelope end
    if due and isTagged then
      step.ids[#step.ids + 1] = id
      step.waiting[#step.waiting + 1] = { id = id, envelope = envelope, lane = lane, due = due }
    elseif queued and hasTag(queued.tags) and wasMadeBy(queued.envelope, began) then
      step.ids[#step.ids + 1] = id
      step.queued[#step.queued + 1] = { id = id, envelope = envelope, queued = queued }
    elseif not isTagged then
      -- Somebody, or an eviction, has taken its envelope; nobody else would ever take it off.
      untagJob(id, text)
    end
  end
  return step
end
