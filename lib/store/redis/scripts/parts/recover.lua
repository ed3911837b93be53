-- Leases that have run out: their jobs go back to their lanes, one crash the richer; one that has crashed too often is dead,
-- so that it cannot take down worker after worker. A job whose claim was never confirmed goes back as if nothing had been.

local expired, returning = {}, {}
-- Five for each: id, name, attempt, what became of it, the worker that held it ('' = not known).
local recovered = {}
local writeRecovered
if isRecovering then
  -- How many jobs are recovered a turn, to keep the script short.
  local RECOVERED_A_TURN = 200

  -- A pull's seat has the name of its process before the '~'.
  local function holderOf(record)
    return string.match(record.holder, '^[^~]*')
  end

  local function crashLine(record)
    local dead = record.crashes >= maxCrashes and ',"reason":"crashed"' or ''
    return '{"name":"Error","message":"the lease ran out: worker ' .. holderOf(record) .. ' died or was blocked"' .. dead .. '}'
  end

  -- Where somebody has taken or damaged the record, the envelope says where the job belongs.
  local function recordOf(id, found)
    local record = found and parseRecord(found)
    if record then return record end
    local envelope = redis.call('HGET', jobsKey, id)
    return { marks = 'q', attempt = 1, crashes = 0, due = now, holder = '-', lane = laneOf(envelope or ''), tags = tagsOf(envelope or ''), lostEnvelope = not envelope }
  end

  local function recover(id, record)
    local s = { id = id, record = record, fate = 'waiting' }
    local attempt, isCancelled = tostring(record.attempt), hasMark(record.marks, 'c')
    local holder = record.holder == '-' and '' or holderOf(record)
    if takeovers.takePlace(id, record, isCancelled and 'cancel' or 'recover', not hasMark(record.marks, 'u')) then
      s.placed, s.fate = true, isCancelled and 'cancelled' or 'waiting'
    elseif isCancelled then
      s.transition, s.fate = 'cancel', 'cancelled'
    elseif record.lane == '' then
      s.transition, s.fate, s.lostEnvelope = 'dead', record.lostEnvelope and 'envelope-missing' or 'unreadable', record.lostEnvelope
      s.second = '{"reason":"' .. s.fate .. '"}'
    elseif hasMark(record.marks, 'u') then
      -- The job has not begun: its claim never arrived, or too late.
      record.attempt = record.attempt - 1
    else
      record.crashes = record.crashes + 1
      s.second, s.failures = crashLine(record), redis.call('HGET', failuresKey, id)
      if record.crashes >= maxCrashes then
        s.transition, s.fate = 'dead', 'crashed'
      else
        record.lane = laneFor(record.lane, record.crashes)
      end
    end
    if s.transition then
      s.first = s.transition == 'dead' and idWasChosen(redis.call('HGET', jobsKey, id) or '') and 'r' or ''
      settlements[#settlements + 1] = s
    elseif not s.placed then
      openLane(record.lane)
      readWakers(nameOf(record.lane), group, worker)
      returning[#returning + 1] = s
    end
    for _, field in ipairs({ id, nameOf(record.lane) or '', attempt, s.fate, holder }) do recovered[#recovered + 1] = field end
  end

  local ids = redis.call('ZRANGE', activeKey, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, RECOVERED_A_TURN)
  local found = readRecords(ids)
  for i, id in ipairs(ids) do
    if not (mine[id] or leaves(id)) then
      expired[#expired + 1] = id
      recover(id, recordOf(id, found[i]))
    end
  end

  function writeRecovered()
    redis.call('ZREM', activeKey, unpack(expired))
    for _, s in ipairs(returning) do
      addToLane(openLane(s.record.lane), s.id, s.record.due)
      redis.call('HSET', claimsKey, s.id, unheldRecord(s.record))
      if s.second then noteFailure(s) end
    end
    redis.call('HINCRBY', statsKey, 'recovered', #expired)
  end
end
