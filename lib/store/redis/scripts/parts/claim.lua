-- What was picked is handed out under one fence; but for what is too late for its job, and for jobs whose envelope somebody or
-- an eviction has taken: those end here, told rather than dropped.
local fence, fit = 0, {}
-- Five for each: id, name, attempts begun, how late (ms), the letter of its late rule.
local late = {}
-- Four for each job whose envelope is missing, or cannot be read by a relay: id, name, attempts begun, the reason.
local missing = {}
local claimed, writeClaims = {}, nil
-- 'u' where the envelopes are so large that a slow link may take longer than the lease to carry them (see record.lua).
local unconfirmed = ''
if picked[1] then
  -- Envelopes are read in growing groups, so that large ones are noticed before many of them have been read.
  local FIRST_ENVELOPES, LARGE_BYTES = 8, 1048576
  -- A claim of no more bytes needs no confirmation. `LEAST_BYTES` in redis/link-rate.ts is the same number.
  local UNCONFIRMED_BYTES = 262144

  -- Cuts the claim where its envelopes grow too large for one reply.
  local envelopes = {}
  local function readEnvelopes()
    local maxBytes = tonumber(ARGV[12])
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
          stopped, unconfirmed = 'bytes', 'u'
          return
        end
        envelopes[from + i - 1] = envelope
      end
      from = from + #ids
      if bytes > UNCONFIRMED_BYTES then unconfirmed = 'u' end
      if bytes < LARGE_BYTES then chunk = chunk * 2 end
    end
  end
  readEnvelopes()
  -- Jobs that are relayed stay in Redis, and cross no link.
  if relayTo ~= '' then unconfirmed = '' end

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
      record = { attempt = r.attempt, crashes = r.crashes, due = job.due, lane = job.front.lane, tags = job.envelope and tagsOf(job.envelope) or r.tags or '' },
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
      for _, field in ipairs({ job.id, job.front.name, tostring(job.record.attempt), damage }) do missing[#missing + 1] = field end
      return turnAway(job, 'dead', damage)
    end
    local rule = lateRule(job)
    if rule then
      local attempts = tostring(job.record.attempt)
      for _, field in ipairs({ job.id, job.front.name, attempts, digits(now - job.due), rule }) do late[#late + 1] = field end
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
  local records = recordsOfPicked()
  for i, job in ipairs(picked) do
    local record, front = records[i], job.front
    job.envelope = envelopes[i]
    job.record = record and parseRecord(record) or UNCLAIMED
    local lane = openLane(front.lane, front.head)
    if front.inOrder then takeFirstOf(lane) else takeFromLane(lane, job.id) end
    sift(job)
  end
  -- The clock keeps fences growing where a failover has lost the counter, the counter where the clock went back.
  if relayTo == '' then fence = math.max(tonumber(redis.call('GET', fenceKey) or 0) or 0, nowUs) + 1 end

  -- Redis keeps small hashes and sorted sets as lists, and looks through them for each of their members: with a hundred jobs
  -- running that took a fifth of a turn. One long member, be it for a moment, ends that for as long as the key lives.
  local MANY, LONG = 16, string.rep('\n', 65)

  function writeClaims()
    local leases, held = {}, {}
    local fenceText, leaseUntil = digits(fence) .. unconfirmed, digits(now + leaseMs)
    local due, front, text
    for i = 1, fitCount do
      local job = fit[i]
      local id, record, tags = job.id, job.record, tagsOf(job.envelope)
      leases[2 * i - 1], leases[2 * i] = leaseUntil, id
      claimed[3 * i - 2], claimed[3 * i] = id, job.envelope
      if record ~= UNCLAIMED then
        local attempt, crashes = tostring(record.attempt + 1), tostring(record.crashes)
        claimed[3 * i - 1] = job.dueText .. ' ' .. attempt .. ' ' .. crashes
        held[2 * i - 1], held[2 * i] = id, formatRecord(fenceText, attempt, crashes, job.dueText, worker, job.front.lane, tags)
      else
        -- Many of one burst have the same.
        if job.dueText ~= due or job.front ~= front then
          due, front = job.dueText, job.front
          text = formatRecord(fenceText, '1', '0', due, worker, front.lane, '')
        end
        claimed[3 * i - 1] = due
        held[2 * i - 1], held[2 * i] = id, text .. tags
      end
    end
    local isMany = fitCount >= MANY
    if isMany then
      redis.call('ZADD', activeKey, 0, LONG)
      redis.call('HSET', claimsKey, LONG, LONG)
    end
    redis.call('ZADD', activeKey, unpack(leases))
    redis.call('HSET', claimsKey, unpack(held))
    if isMany then
      redis.call('ZREM', activeKey, LONG)
      redis.call('HDEL', claimsKey, LONG)
    end
    redis.call('HINCRBY', statsKey, 'started', #fit)
    redis.call('SET', fenceKey, digits(fence))
  end
end
