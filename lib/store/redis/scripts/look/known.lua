-- All that is known of one job: {} for an unknown one, else {now, state, since or until or due (epoch ms), envelope, claim, failures,
-- result} and, of a running job with another one queued behind it, the due time of the queued one (epoch ms).
-- The state is 'waiting', 'active', 'dead' or 'completed'.
-- `envelope`: that of the job, where it has been read already.
-- @needs parts/clock.lua, parts/claim.lua, parts/queued.lua, parts/waiting.lua
-- @takes jobsKey, claimsKey, failuresKey, activeKey, deadKey, completedKey, resultsKey
-- @gives knownOf
function knownOf(id, envelope)
  envelope = envelope or redis.call('HGET', jobsKey, id)
  if not envelope then
    local completedAt = redis.call('ZSCORE', completedKey, id)
    if not completedAt then return {} end
    return { digits(now), 'completed', completedAt, '', '', '', redis.call('HGET', resultsKey, id) or '' }
  end
  local claim, failures = redis.call('HGET', claimsKey, id) or '', redis.call('HGET', failuresKey, id) or ''
  local leaseUntil = redis.call('ZSCORE', activeKey, id)
  if leaseUntil then
    local queued = hasMark((parseClaim(claim) or {}).marks, 'q') and readQueued(id)
    return { digits(now), 'active', leaseUntil, envelope, claim, failures, '', queued and digits(queued.due) or nil }
  end
  local diedAt = redis.call('ZSCORE', deadKey, id)
  if diedAt then return { digits(now), 'dead', diedAt, envelope, claim, failures, '' } end
  local _, due = findWaiting(id, envelope)
  return { digits(now), 'waiting', due or digits(now), envelope, claim, failures, '' }
end
