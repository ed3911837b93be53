-- Leases that have run out: their jobs go back to their lanes with one crash more. A job that has crashed too often is dead, so that it
-- cannot take down worker after worker. A job whose claim was never confirmed goes back as if nothing had been.
-- @needs parts/envelope-tags.lua, turn/settle/lane-after.lua, parts/clock.lua, parts/envelope.lua, parts/claim.lua, parts/enter.lua, turn/claims.lua
-- @takes settings, decided, report, activeKey, jobsKey, failuresKey, takePlace, endsHere, keptHere
local settlements, returning, expired, recovered = decided.settlements, decided.returning, decided.expired, report.recovered
-- How many jobs are recovered a turn, to keep the script short.
local RECOVERED_A_TURN = 200

-- A session of a pull or a relay has the id of its worker before the '~'.
local function workerOf(claim)
  return string.match(claim.holder, '^[^~]*')
end

local function crashLine(claim)
  local dead = claim.crashes >= settings.maxCrashes and ',"reason":"crashed"' or ''
  return '{"name":"Error","message":"the lease ran out: worker ' .. workerOf(claim) .. ' died or was blocked"' .. dead .. '}'
end

-- Where somebody has taken or damaged the claim, the envelope says where the job belongs.
local function claimOf(id, text)
  local claim = text and parseClaim(text)
  if claim then return claim end
  local envelope = redis.call('HGET', jobsKey, id)
  return { marks = 'q', attempt = 1, crashes = 0, due = now, holder = '-', lane = laneOf(envelope or ''), tags = tagsOf(envelope or ''), lostEnvelope = not envelope }
end

local function recover(id, claim)
  local s = { id = id, claim = claim, fate = 'waiting' }
  local attempt, isCancelled = tostring(claim.attempt), hasMark(claim.marks, 'c')
  local holder = claim.holder == '-' and '' or workerOf(claim)
  local placed = takePlace(id, claim, isCancelled and 'cancel' or 'recover', not hasMark(claim.marks, 'u'))
  if placed then
    s.placed, s.fate = true, (isCancelled or placed == '4') and 'cancelled' or 'waiting'
  elseif isCancelled then
    s.transition, s.fate = 'cancel', 'cancelled'
  elseif claim.lane == '' then
    s.transition, s.fate, s.lostEnvelope = 'dead', claim.lostEnvelope and 'envelope-missing' or 'unreadable', claim.lostEnvelope
    s.second = '{"reason":"' .. s.fate .. '"}'
  elseif hasMark(claim.marks, 'u') then
    -- The job has not begun: its claim never arrived, or too late.
    claim.attempt = claim.attempt - 1
  else
    claim.crashes = claim.crashes + 1
    s.second, s.failures = crashLine(claim), redis.call('HGET', failuresKey, id)
    if claim.crashes >= settings.maxCrashes then
      s.transition, s.fate = 'dead', 'crashed'
    else
      claim.lane = laneAfter(claim.lane, claim.crashes)
    end
  end
  if s.transition then
    s.first = s.transition == 'dead' and hasFlag(redis.call('HGET', jobsKey, id) or '', 'c') and 'r' or ''
    settlements[#settlements + 1] = s
  elseif not s.placed then
    enterLane(claim.lane)
    returning[#returning + 1] = s
  end
  for _, field in ipairs({ id, nameOf(claim.lane) or '', attempt, s.fate, holder }) do recovered[#recovered + 1] = field end
end

local ids = redis.call('ZRANGE', activeKey, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, RECOVERED_A_TURN)
local claims = readClaims(ids)
for i, id in ipairs(ids) do
  if not (keptHere[id] or endsHere(id)) then
    expired[#expired + 1] = id
    recover(id, claimOf(id, claims[i]))
  end
end
