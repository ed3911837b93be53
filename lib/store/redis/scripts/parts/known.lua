-- All that is known of one job: {} for an unknown one, else {now, state, since or until or due (epoch ms), envelope, claim record,
-- failures, result} and, of a running job with another one queued behind it, the due time of the queued one (epoch ms).
-- The state is 'waiting', 'active', 'dead' or 'completed'.
-- Needs `activeKey`, `claimsKey`, `completedKey`, `deadKey`, `failuresKey`, `resultsKey`, `jobsKey`; and the parts waiting and queued.
local function known(id)
  local envelope = redis.call('HGET', jobsKey, id)
  if not envelope then
    local completedAt = redis.call('ZSCORE', completedKey, id)
    if not completedAt then return {} end
    return { digits(now), 'completed', completedAt, '', '', '', redis.call('HGET', resultsKey, id) or '' }
  end
  local record, failures = redis.call('HGET', claimsKey, id) or '', redis.call('HGET', failuresKey, id) or ''
  local leaseUntil = redis.call('ZSCORE', activeKey, id)
  if leaseUntil then
    local queued = string.find(record, '^%d+%l*q') and queuedJobs.read(id)
    return { digits(now), 'active', leaseUntil, envelope, record, failures, '', queued and digits(queued.due) or nil }
  end
  local diedAt = redis.call('ZSCORE', deadKey, id)
  if diedAt then return { digits(now), 'dead', diedAt, envelope, record, failures, '' } end
  local _, due = findWaiting(id, envelope)
  return { digits(now), 'waiting', due or digits(now), envelope, record, failures, '' }
end
