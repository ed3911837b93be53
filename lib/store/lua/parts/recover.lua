-- Leases that have run out: their jobs go back to their lanes, one crash the richer.
-- After a silence of more than half a lease (Redis was away, its clock jumped, every worker froze) nobody could renew, so a
-- lease is waited before anybody is taken for dead. Renewals come every third of a lease, and idle workers look as often:
-- what is left is the time that a reconnection may take. Not again within two leases, so that the only worker, were it
-- as slow as that, does not postpone for ever.
-- How many jobs are recovered a turn, to keep the script short.
local RECOVERED_A_TURN = 200

local recovered, recoveredIds, recoverFrom, postponedAt = {}, {}, 0, 0
local firstLeaseEnd = redis.call('ZRANGE', activeKey, 0, 0, 'WITHSCORES')[2]
if firstLeaseEnd then
  local served = redis.call('GET', servedKey)
  if served then
    local servedAt, from, at = string.match(served, '^(%d+) (%d+) (%d+)$')
    -- Where the clock went forward and back, no further off than a lease.
    recoverFrom, postponedAt = math.min(tonumber(from), now + leaseMs), math.min(tonumber(at), now)
    if now - tonumber(servedAt) > leaseMs / 2 and now - postponedAt > 2 * leaseMs then
      recoverFrom, postponedAt = now + leaseMs, now
    end
  end
  if now >= recoverFrom and tonumber(firstLeaseEnd) <= now then
    local ids = redis.call('ZRANGE', activeKey, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, RECOVERED_A_TURN)
    local found = readRecords(ids)
    for i, id in ipairs(ids) do
      if not mine[id] then
        local record = found[i] and parseRecord(found[i])
        local envelope = not record and redis.call('HGET', jobsKey, id)
        if envelope then record = { attempt = 1, crashes = 0, due = now, lane = laneOf(envelope) } end
        if record then
          openLane(record.lane)
          readWakers(nameOf(record.lane), group, worker)
        end
        recovered[#recovered + 1] = { id = id, record = record }
        recoveredIds[#recoveredIds + 1] = id
      end
    end
  end
end

local function writeRecovered()
  if not recovered[1] then return end
  redis.call('ZREM', activeKey, unpack(recoveredIds))
  for _, job in ipairs(recovered) do
    local r = job.record
    if r then
      r.crashes = r.crashes + 1
      addToLane(openLane(r.lane), job.id, r.due)
      redis.call('HSET', claimsKey, job.id, unheldRecord(r))
    end
  end
  redis.call('HINCRBY', statsKey, 'recovered', #recovered)
end
