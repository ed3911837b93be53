-- What most claims are: all jobs that are due lie in one lane, and need nothing but a lease. Read phase; turn/claim/take-of-lane.lua writes. A
-- claim that is more leaves `oneLane` nil, and is for turn/claim/take.lua.
-- `oneLane`: `ids` and `envelopes` of the jobs to claim, and `dues`, their due times as text; their `lane` and its `priority`; `nextId` and `nextDue`, of
-- the first job that stays in the lane, nil for none, and `nextDueAt`, the same as a number, math.huge for none. To read a text as a number is dear:
-- so each is read once, and one that is known to be due not at all.
-- `entering`: what is to enter that lane besides (turn/settle/steps-of-one-lane.lua).
-- `heads`: the first FIRST_HEADS heads of its level. `outlook.isOffSleepers`: see turn/after/outlook.lua. `stopped`: 'limit' where more jobs are due than this session may claim.
-- @needs parts/clock.lua
-- @takes me, sleepAtMost, base, outlook, earliest, entering, handlers, jobsKey, claimsKey, activeKey, deadKey, handlesKey, sleepersKey
-- @changes oneLane, heads, stopped, unconfirmed
local isOneLevel = not (earliest[4] and tonumber(earliest[4]) <= now)
if isOneLevel and not handlers then
  heads = redis.call('ZRANGE', base .. 'heads:' .. earliest[1], 0, FIRST_HEADS - 1, 'WITHSCORES')
  -- Where somebody has damaged the index, the level says that something is due, and its first head that nothing is.
  local isOneHead = heads[1] and (heads[2] == earliest[2] or tonumber(heads[2]) <= now) and not (heads[4] and tonumber(heads[4]) <= now)
  local lane, priority, versionedName
  if isOneHead then lane, priority, versionedName = string.match(heads[1], '^[^\t]*\t((%d+)::(.*))$') end
  local isOneLane = priority == earliest[1] and (not entering or entering.lane == lane)
  if isOneLane and (string.find(me.names, '\n' .. versionedName .. '\n', 1, true) or me.names == '' and redis.call('SMISMEMBER', handlesKey, versionedName)[1] == 1) then
    -- One more than may be claimed, so that this script knows who comes next. Where many may be claimed, few are read first: mostly no more are due.
    local laneKey, limit, few, ids, dues, count = base .. 'lane:' .. lane, me.limit, math.min(me.limit, MANY_AT_ONCE), {}, {}, nil
    local jobs = redis.call('ZRANGE', laneKey, 0, few, 'WITHSCORES')
    local areMany = few < limit and tonumber(jobs[2 * few + 2] or math.huge) <= now
    if areMany and redis.call('ZCOUNT', laneKey, heads[2], heads[2]) > limit then
      -- So many are due at once: without their due times, which are costly as text.
      ids, count = redis.call('ZRANGE', laneKey, 0, limit), limit
      for i = 1, count + 1 do dues[i] = heads[2] end
    else
      if areMany then jobs = redis.call('ZRANGE', laneKey, 0, limit, 'WITHSCORES') end
      for i = 1, #jobs, 2 do ids[#ids + 1], dues[#dues + 1] = jobs[i], jobs[i + 1] end
      count = math.min(#ids, limit)
      while count > 0 and dues[count] ~= heads[2] and tonumber(dues[count]) > now do count = count - 1 end
    end
    local nextId, nextDue = ids[count + 1], dues[count + 1]
    local nextDueAt = tonumber(nextDue or math.huge)
    local isMoreDue = count == limit and nextDueAt <= now
    -- Where somebody has damaged the index, the head is another job.
    local isPlain = count > 0 and ids[1] .. '\t' .. lane == heads[1] and dues[1] == heads[2]
    local nextAt = count == limit and math.min(entering and entering.due or math.huge, nextDueAt, tonumber(heads[4] or math.huge), tonumber(earliest[4] or math.huge))
    if isPlain and nextAt and nextAt <= sleepAtMost then
      -- Another session of the crew that sleeps is to be woken for the rest, or for what becomes due while this one has no place left.
      local sleepers = redis.call('ZRANGE', sleepersKey, digits(now - ON_ITS_WAY_MS), '+inf', 'BYSCORE', 'LIMIT', 0, 2)
      isPlain = not sleepers[1] or sleepers[1] == me.session and not sleepers[2]
      -- Then this session is not among them either, or with a time that nobody reads any more.
      outlook.isOffSleepers = not sleepers[1]
    end
    for i = #ids, count + 1, -1 do ids[i] = nil end
    if isPlain then
      -- @include turn/claim/plain-jobs.lua
      if envelopes then
        oneLane = { ids = ids, dues = dues, envelopes = envelopes, lane = lane, priority = priority, nextId = nextId, nextDue = nextDue, nextDueAt = nextDueAt }
        if isMoreDue then stopped = 'limit' end
      end
    end
  end
end
