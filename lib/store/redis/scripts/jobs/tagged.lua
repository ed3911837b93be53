-- A step through the jobs of a tag, in the order in which they came, from where the last step ended up to the last one that was
-- there at the first step. Positions are the numbers in the index: a job that is tagged meanwhile stands behind the end or at the
-- position of a job that has gone, so the steps come to their end, and no job is met twice in one life.
-- Finds the jobs that wait, and those queued behind a running one; running and dead jobs are passed over. `ids`: those of both kinds, in order.
-- @takes base, jobsKey, tagKey, tagsOf, findWaiting, untagJob, readQueued
-- @gives readTagged
-- Envelopes may be large: a step ends after so many bytes of them.
local BYTES_A_STEP = 8388608

function readTagged(from, last, limit)
  local text = '\t' .. string.sub(tagKey, #base + #'tag:' + 1)
  if last == '' then last = redis.call('ZRANGE', tagKey, 0, 0, 'REV', 'WITHSCORES')[2] or from end
  local found = redis.call('ZRANGE', tagKey, '(' .. from, last, 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES')
  local step = { ids = {}, waiting = {}, queued = {}, nextFrom = #found < 2 * limit and last or found[#found], last = last }
  local function hasTag(tags) return string.find(tags .. '\t', text .. '\t', 1, true) ~= nil end
  local bytes = 0
  for i = 1, #found, 2 do
    if bytes > BYTES_A_STEP then
      step.nextFrom = found[i - 1]
      break
    end
    local id = found[i]
    local envelope = redis.call('HGET', jobsKey, id) or ''
    bytes = bytes + #envelope
    local isTagged = hasTag(tagsOf(envelope))
    local lane, due = findWaiting(id, envelope)
    local queued = not due and readQueued(id)
    if queued then bytes = bytes + #queued.envelope end
    if due and isTagged then
      step.ids[#step.ids + 1] = id
      step.waiting[#step.waiting + 1] = { id = id, envelope = envelope, lane = lane, due = due }
    elseif queued and hasTag(queued.tags) then
      step.ids[#step.ids + 1] = id
      step.queued[#step.queued + 1] = { id = id, envelope = envelope, queued = queued }
    elseif not isTagged then
      -- Somebody, or an eviction, has taken its envelope; nobody else would ever take it off.
      untagJob(id, text)
    end
  end
  return step
end
