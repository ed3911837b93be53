-- A step through the dead jobs, from the oldest on, over the jobs that a filter wants. Jobs that are not taken stay in the set, so
-- a step begins behind them. Its cursor is when the last job looked at died, how many that died then are left before that job, and
-- the last of these. If that last one has gone meanwhile, all that died then are looked at again.
-- @needs parts/envelope.lua, parts/claim.lua
-- @takes claimsKey, deadKey, failuresKey
-- @gives deadWalk, deadAfter
local function readDead(from, skip, last, diedBy, limit)
  if skip > 0 then
    local found = redis.call('ZRANGE', deadKey, from, diedBy, 'BYSCORE', 'LIMIT', skip - 1, limit + 1, 'WITHSCORES')
    if found[1] == last then return { unpack(found, 3) }, skip end
  end
  return redis.call('ZRANGE', deadKey, from, diedBy, 'BYSCORE', 'LIMIT', 0, limit, 'WITHSCORES'), 0
end

-- Of each job, whether its name is one of these.
local function namesMatch(ids, names)
  local matches = {}
  for i, claim in ipairs(redis.call('HMGET', claimsKey, unpack(ids))) do
    matches[i] = names[nameOf((parseClaim(claim or '') or { lane = '' }).lane) or ''] or false
  end
  return matches
end

-- Of each job, whether its last failure says that it died for this reason. A message that quotes such words has its quotes escaped.
local function reasonMatches(ids, reason)
  local matches, words = {}, '"reason":"' .. reason .. '"'
  for i, failures in ipairs(redis.call('HMGET', failuresKey, unpack(ids))) do
    matches[i] = string.find(string.match(failures or '', '[^\n]*$'), words, 1, true) ~= nil
  end
  return matches
end

-- Looks at up to `limit` jobs, and no further than the `most`th that is wanted. `names` nil, `reason` '': any.
-- Answers {id, when it died, whether it is wanted} for each, and where the step began.
function deadWalk(cursor, diedBy, limit, most, names, reason)
  local from, skip, last = string.match(cursor, '^(%S+) (%d+) (.*)$')
  local found, skipped = readDead(from, tonumber(skip), last, diedBy, limit)
  local step = { from = from, skipped = skipped, last = skipped > 0 and last or '' }
  local ids = {}
  for i = 1, #found, 2 do ids[#ids + 1] = found[i] end
  if not ids[1] then
    step.isLast = true
    return step
  end
  local named, died = names and namesMatch(ids, names), reason ~= '' and reasonMatches(ids, reason)
  local wanted = 0
  for i, id in ipairs(ids) do
    if wanted == most then break end
    local isWanted = (not named or named[i]) and (not died or died[i])
    if isWanted then wanted = wanted + 1 end
    step[i] = { id = id, diedAt = found[2 * i], isWanted = isWanted }
  end
  step.isLast = #ids < limit and #step == #ids
  return step
end

-- The answer of a call: how many jobs were taken, '1' where no other job is left to look at, else '0', and the cursor of the next step.
-- `isTaken`: the jobs of the step that are no longer dead, id -> true.
function deadAfter(step, isTaken)
  local from, skip, last, taken = step.from, step.skipped, step.last, 0
  for _, job in ipairs(step) do
    if job.diedAt ~= from then from, skip, last = job.diedAt, 0, '' end
    if isTaken[job.id] then
      taken = taken + 1
    else
      skip, last = skip + 1, job.id
    end
  end
  return taken .. (step.isLast and ' 1 ' or ' 0 ') .. from .. ' ' .. skip .. ' ' .. last
end
