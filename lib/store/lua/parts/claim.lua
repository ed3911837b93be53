-- What was picked is handed out under one fence; but for what is too late for its job, and for jobs whose envelope somebody or
-- an eviction has taken: those end here, told rather than dropped.
local fence, fit = 0, {}
-- Five for each: id, name, attempts begun, how late (ms), the letter of its late rule.
local late = {}
-- Four for each job whose envelope is missing, or cannot be read by a relay: id, name, attempts begun, the reason.
local missing = {}
local claimed, writeClaims = {}, nil
do
  -- Envelopes are read in growing groups, so that large ones are noticed before many of them have been read.
  local FIRST_ENVELOPES, LARGE_BYTES = 8, 1048576

  -- Cuts the claim where its envelopes grow too large for one reply.
  local envelopes = {}
  local function readEnvelopes()
    local bytes, from, chunk = 0, 1, FIRST_ENVELOPES
    while picked[from] do
      local ids = {}
      for i = from, math.min(from + chunk - 1, #picked) do ids[#ids + 1] = picked[i].id end
      for i, envelope in ipairs(redis.call('HMGET', jobsKey, unpack(ids))) do
        bytes = bytes + (envelope and #envelope or 0)
        if bytes > maxBytes and from + i - 1 > 1 then
          for cut = #picked, from + i - 1, -1 do
            giveBack(picked[cut])
            picked[cut] = nil
          end
          stopped = 'bytes'
          return
        end
        envelopes[from + i - 1] = envelope
      end
      from = from + #ids
      if bytes < LARGE_BYTES then chunk = chunk * 2 end
    end
  end
  readEnvelopes()

  local function lateRule(job)
    local first = string.byte(job.envelope)
    if not first or first <= BYTE_9 then return nil end
    local rule, maxLatenessMs = string.match(job.envelope, '^(%l)(%d+) ')
    if rule and now - job.due > tonumber(maxLatenessMs) then return rule end
  end

  local function turnAway(job, transition, reason)
    local r = job.record
    settlements[#settlements + 1] = {
      transition = transition,
      id = job.id,
      record = { attempt = r.attempt, crashes = r.crashes, due = job.due, lane = job.lane, tags = job.envelope and tagsOf(job.envelope) or r.tags or '' },
      lostEnvelope = not job.envelope,
      -- 'r': the id is to be remembered.
      first = idWasChosen(job.envelope or '') and 'r' or '',
      second = '{"reason":"' .. reason .. '"}',
      failures = redis.call('HGET', failuresKey, job.id),
    }
    giveBack(job)
    -- There is room left for others.
    lookAgain = true
  end

  local fitCount = 0
  local function sift(job)
    local damage = not job.envelope and 'envelope-missing' or relayTo ~= '' and not readForRelay(job) and 'unreadable'
    if damage then
      for _, field in ipairs({ job.id, job.name, tostring(job.record.attempt), damage }) do missing[#missing + 1] = field end
      return turnAway(job, 'dead', damage)
    end
    local rule = lateRule(job)
    if rule then
      local attempts = tostring(job.record.attempt)
      for _, field in ipairs({ job.id, job.name, attempts, digits(now - job.due), rule }) do late[#late + 1] = field end
      if rule == 'd' then return turnAway(job, 'discard', 'late') end
      if rule == 'x' then return turnAway(job, 'dead', 'late') end
    end
    fitCount = fitCount + 1
    fit[fitCount] = job
  end

  -- Of a job that nobody has claimed before.
  local UNCLAIMED = { attempt = 0, crashes = 0 }
  -- Each running and each dead job has a claim record; where there are no more, no waiting one has.
  local function recordsOfPicked()
    if redis.call('HLEN', claimsKey) <= redis.call('ZCARD', activeKey) + redis.call('ZCARD', deadKey) then return {} end
    local ids = {}
    for i, job in ipairs(picked) do ids[i] = job.id end
    return readRecords(ids)
  end
  if picked[1] then
    local records = recordsOfPicked()
    for i, job in ipairs(picked) do
      local record = records[i]
      job.envelope = envelopes[i]
      job.record = record and parseRecord(record) or UNCLAIMED
      takeFromLane(openLane(job.lane, job.head), job.id)
      sift(job)
    end
    -- The clock keeps fences growing where a failover has lost the counter, the counter where the clock went back.
    if relayTo == '' then fence = math.max(tonumber(redis.call('GET', fenceKey) or 0) or 0, nowUs) + 1 end
  end

  function writeClaims()
    if relayTo ~= '' or not fit[1] then return end
    local leases, held = {}, {}
    local fenceText, leaseUntil = digits(fence), digits(now + leaseMs)
    for i = 1, fitCount do
      local job = fit[i]
      local id, record, due = job.id, job.record, job.dueText
      local attempt, crashes, told = '1', '0', due
      if record ~= UNCLAIMED then
        attempt, crashes = tostring(record.attempt + 1), tostring(record.crashes)
        told = due .. ' ' .. attempt .. ' ' .. crashes
      end
      -- The last one first: ids grow, and where there are few, Redis looks through those before it.
      leases[2 * (fitCount - i) + 1], leases[2 * (fitCount - i) + 2] = leaseUntil, id
      held[2 * i - 1], held[2 * i] = id, formatRecord(fenceText, attempt, crashes, due, worker, job.lane, tagsOf(job.envelope))
      claimed[3 * i - 2], claimed[3 * i - 1], claimed[3 * i] = id, told, job.envelope
    end
    redis.call('ZADD', activeKey, unpack(leases))
    redis.call('HSET', claimsKey, unpack(held))
    redis.call('HINCRBY', statsKey, 'started', #fit)
    redis.call('SET', fenceKey, fenceText)
  end
end
