-- What most claims are: few jobs, all those that are due lie in one lane, and they need nothing but a lease. Read phase; turn/claim/take-of-lane.lua
-- writes. A claim that is more leaves `oneLane` nil, and is for turn/claim/take.lua.
-- `oneLane`: `ids` and `envelopes` of the jobs to claim; the `name` of their lane, and its first `jobs`, id and due time each.
-- `heads`: the first heads of its level. `stopped`: 'limit' where more jobs are due than this session may claim.
-- @needs parts/clock.lua
-- @takes me, base, earliest, handlers, jobsKey, claimsKey, handlesKey, sleepersKey
-- @changes oneLane, heads, stopped
-- Lanes begin with a digit, so a higher first byte is that of a late rule.
local BYTE_9 = 57
local isOneLevel = not (earliest[4] and tonumber(earliest[4]) <= now)
if isOneLevel and not handlers and me.limit < FEWEST_JOBS then
  heads = redis.call('ZRANGE', base .. 'heads:' .. earliest[1], 0, FIRST_HEADS - 1, 'WITHSCORES')
  local isOneHead = heads[1] and not (heads[4] and tonumber(heads[4]) <= now)
  local lane, name
  if isOneHead then lane, name = string.match(heads[1], '^[^\t]*\t(%d+::(.*))$') end
  if lane and redis.call('SISMEMBER', handlesKey, name) == 1 then
    -- One more than may be claimed, so that this script knows who comes next.
    local ofLane = redis.call('ZRANGE', base .. 'lane:' .. lane, 0, me.limit, 'WITHSCORES')
    local count = math.min(#ofLane / 2, me.limit)
    while count > 0 and tonumber(ofLane[2 * count]) > now do count = count - 1 end
    local isMoreDue = count == me.limit and ofLane[2 * count + 2] and tonumber(ofLane[2 * count + 2]) <= now
    -- Where somebody has damaged the index, the head is another job.
    local isPlain = count > 0 and ofLane[1] .. '\t' .. lane == heads[1] and ofLane[2] == heads[2]
    if isPlain and isMoreDue then
      -- Another session of the crew that sleeps is to be woken for the rest.
      local sleepers = redis.call('ZRANGE', sleepersKey, digits(now - ON_ITS_WAY_MS), '+inf', 'BYSCORE', 'LIMIT', 0, 2)
      isPlain = not sleepers[1] or sleepers[1] == me.session and not sleepers[2]
    end
    if isPlain then
      local taken = {}
      for i = 1, count do taken[i] = ofLane[2 * i - 1] end
      local envelopes = redis.call('HMGET', jobsKey, unpack(taken))
      local claims, bytes = redis.call('HMGET', claimsKey, unpack(taken)), 0
      for i = 1, count do
        local envelope = envelopes[i]
        bytes = bytes + (envelope and #envelope or math.huge)
        local maxLatenessMs = envelope and string.byte(envelope) > BYTE_9 and string.match(envelope, '^%l(%d+) ')
        -- Claimed before, too late by its rule, or damaged.
        if claims[i] or maxLatenessMs and now - ofLane[2 * i] > tonumber(maxLatenessMs) or bytes > math.min(me.maxBytes, UNCONFIRMED_BYTES) then
          isPlain = false
          break
        end
      end
      if isPlain then oneLane = { ids = taken, envelopes = envelopes, name = lane, jobs = ofLane } end
      if isPlain and isMoreDue then stopped = 'limit' end
    end
  end
end
