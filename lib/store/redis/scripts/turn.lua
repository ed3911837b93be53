-- turn: one round trip of a worker: settle what has ended, renew leases, recover expired ones, claim what is due,
-- and learn when to look again.
-- KEYS[1] sq:{<queue>}:jobs        HASH job id -> envelope
-- KEYS[2] sq:{<queue>}:claims      HASH job id -> claim record
-- KEYS[3] sq:{<queue>}:failures    HASH job id -> failed attempts
-- KEYS[4] sq:{<queue>}:active      ZSET job id -> end of its lease (epoch ms)
-- KEYS[5] sq:{<queue>}:dead        ZSET job id -> when it died (epoch ms)
-- KEYS[6] sq:{<queue>}:completed   ZSET job id -> when it completed (epoch ms)
-- KEYS[7] sq:{<queue>}:results     HASH job id -> result of a kept completed job
-- KEYS[8] sq:{<queue>}:usedIds     ZSET chosen id of an ended job -> when it may be used again (epoch ms)
-- KEYS[9] sq:{<queue>}:stats       HASH counter -> number
-- KEYS[10] sq:{<queue>}:levels     ZSET priority -> earliest due (epoch ms)
-- KEYS[11] sq:{<queue>}:sleeping   ZSET group of workers -> until when some of it may sleep (epoch ms)
-- KEYS[12] sq:{<queue>}:served     STRING last turn of any worker, time before which nothing is recovered, when that was last put off
--   (epoch ms), and the worker that was the last to fill sixteen places or more ('' = not known)
-- KEYS[13] sq:{<queue>}:fence      STRING highest fence given
-- KEYS[14] sq:{<queue>}:workers    ZSET "<group> <worker> <pid> <host>" -> when it was last here (epoch ms)
-- KEYS[15] sq:{<queue>}:paused     STRING until when nothing is claimed (epoch ms, or 'inf')
-- KEYS[16] sq:{<queue>}:rate       ZSET how many jobs had started in all -> when that was reached (epoch ms)
-- KEYS[17] sq:{<queue>}:reservations  ZSET process that is kept for a suspect -> until when, unless it says so again (epoch ms)
-- KEYS[18] sq:{<queue>}:offers     ZSET "<worker> <job id>" -> until when a place is kept for that worker (epoch ms)
-- KEYS[19] sq:{<queue>}:handles:<group>   SET names that this worker's group handles
-- KEYS[20] sq:{<queue>}:sleepers:<group>  ZSET idle worker -> when it will look (epoch ms)
-- KEYS[21] <target>  STREAM or LIST where a relay puts its jobs; of others a key that never exists
-- KEYS[22] sq:{<queue>}:queued     HASH id of a running job -> due and envelope of the job that replaces it after the run
-- KEYS[23] sq:{<queue>}:receipt:<caller>     STRING last call number and its answer
-- ARGV[1] key base   ARGV[2] call number   ARGV[3] deadline (epoch ms, 0 = none)   ARGV[4] how long the record is kept (ms)
-- ARGV[5] '1' on a cluster   ARGV[6] worker id   ARGV[7] group   ARGV[8] how many names the group handles
-- ARGV[9] lease (ms)   ARGV[10] longest sleep (ms)   ARGV[11] what weight of jobs there is room for (0 = none, at most 1000)
-- ARGV[12] how many bytes of envelopes to claim at the most   ARGV[13] where to go on looking ('' = from the start)
-- ARGV[14] '1' if this worker hears messages, '0' if not; of a pull 'wait' if it hears them and goes once it has claimed
-- something, 'go' if it goes at once (see parts/wake-others.lua)   ARGV[15] how long a chosen id is remembered (ms)
-- ARGV[16] completed jobs kept, count   ARGV[17] and age (ms, 0 = any)   ARGV[18] dead jobs kept, count   ARGV[19] and age
-- ARGV[20] how often a job's lease may run out before it is dead   ARGV[21] 'here <pid> <host>' to be listed among the workers,
-- 'gone <pid> <host>' to be taken off that list, '' for neither   ARGV[22] in how many ms a waiting job grows more urgent by one level (0 = never)
-- ARGV[23] how late a job must be before any worker may take it from the one that it prefers (ms)
-- ARGV[24] how many may run at once over all processes (0 = any)   ARGV[25] how many may start over all processes
-- (0 = any)   ARGV[26] within how long (ms)
-- ARGV[27] '' for a worker, which gets what is due; for a relay, which has it moved, 'stream' or 'list'   ARGV[28] how many entries
-- that stream is to keep, about (0 = any)
-- ARGV[29] what this turn wishes of suspects, jobs that run alone (see parts/suspects.lua)
-- ARGV[30…] how many jobs completed and leave nothing behind, then their ids, then their fences ('' = that of the one before)
-- then how many others ended, then five for each: transition, id, fence, and two that depend on it (see parts/settle.lua)
-- then how many leases to renew, then two for each: id, fence
-- then how many names have a weight or a limit of their own, then three for each: name, weight, how many more may run here
-- Returns {status, now (epoch ms, of 'done' with µs behind the point),
--   a digit for each settlement in order (1 = its lease was still held; 2 = it was, and the job was cancelled instead; 3 = it
--   was, and the job that was queued behind it has taken its place), ids of leases that are lost, ids of renewed jobs that are to be cancelled,
--   five for each job whose lease had run out: id, name, attempt, 'waiting' | 'cancelled' | the reason it is dead for, the worker
--   that held it ('' = not known),
--   five for each job that is late: id, name, attempts begun, how late (ms), its late rule's letter,
--   four for each job that died because its envelope is missing or unreadable: id, name, attempts begun, the reason,
--   two for each dead job that was pushed out: id, name,
--   when to look again (epoch ms, 0 = when there is room), fence and behind it 'u' where none of the claimed jobs may begin
--   before their leases have been renewed, 'o' where their leases are over and they are to be given back, where to go on looking,
--   '1' if another worker was the last to fill sixteen places or more, else '',
--   'reserved' if this process is kept for a suspect, 'taken' if what it claimed is one, else '',
--   three for each claimed job: id, due and, unless it is its first claim, attempt and crashes, envelope};
--   {'refused', now, type} where a relay's target is of another type: nothing has moved
-- Repeating it after a lost reply: settlements are answered from the record, and the jobs claimed then are handed out
-- again, without envelopes where their leases are over by then; what was relayed is not written again; and of renewals nothing
-- is told. What had been recovered, was late, missing or pushed out is not told a second time.
local jobsKey, claimsKey, failuresKey, activeKey, deadKey, completedKey, resultsKey, usedIdsKey = unpack(KEYS, 1, 8)
local statsKey, levelsKey, sleepingKey, servedKey, fenceKey, workersKey = unpack(KEYS, 9, 14)
local pausedKey, rateKey, reservationsKey, offersKey, handlesKey, sleepersKey, targetKey, queuedKey, receiptKey = unpack(KEYS, 15, 23)
local base, keepRecordMs = ARGV[1], ARGV[4]
local clustered, worker, group = ARGV[5] == '1', ARGV[6], ARGV[7]
local leaseMs, room = tonumber(ARGV[9]), tonumber(ARGV[11])
local lookFrom, keepIdsMs = ARGV[13], tonumber(ARGV[15])
local hears, goes = ARGV[14] == '1' or ARGV[14] == 'wait', ARGV[14] == 'go'
local keepCompleted = { count = tonumber(ARGV[16]), ageMs = tonumber(ARGV[17]) }
local maxCrashes, msPerLevel = tonumber(ARGV[20]), tonumber(ARGV[22])
local presence = string.match(ARGV[21], '^%l*')
local stealAfterMs, globalConcurrency, rateMax, rateWindowMs = tonumber(ARGV[23]), tonumber(ARGV[24]), tonumber(ARGV[25]), tonumber(ARGV[26])
local relayTo, wish = ARGV[27], ARGV[29]
-- @include parts/clock.lua
-- @include parts/envelope.lua
-- @include parts/lanes.lua
-- @include parts/wake.lua
-- @include parts/untag.lua
-- @include parts/record.lua

do
  -- @include parts/call.lua
  -- @include parts/replayed.lua
  local callNumber, deadline = tonumber(ARGV[2]), tonumber(ARGV[3])
  local status, answer = answeredBefore(receiptKey, callNumber, deadline)
  if status == 'replayed' then
    local bits, fence, leaseUntil, suspect = string.match(answer, '^([0-3]*)%-(%d+) (%d+) (%l*)$')
    local jobs, how = claimedWith(fence, leaseUntil, deadline)
    return { status, digits(now), bits, {}, {}, {}, {}, {}, {}, digits(now), fence .. how, '', '', suspect, unpack(jobs) }
  end
  if status then return { status, digits(now) } end
end
if room > 0 and redis.call('SCARD', handlesKey) ~= tonumber(ARGV[8]) then return { 'unregistered', digits(now) } end
if relayTo ~= '' and room > 0 then
  local found = redis.call('TYPE', targetKey).ok
  if found ~= 'none' and found ~= relayTo then
    -- This relay does not look before somebody has mended the key: others of its group must not count on it.
    redis.call('ZREM', sleepersKey, worker)
    return { 'refused', digits(now), found }
  end
end

-- Everything is read before anything is written, so that a script that cannot go on leaves nothing half done.
-- @include parts/expiry.lua
-- @include parts/settle.lua
-- @include parts/recover.lua
-- @include parts/gate.lua
-- @include parts/offered.lua
-- @include parts/room.lua
-- @include parts/affinity.lua
-- @include parts/preferred.lua
-- The claimed jobs; why no more of the due ones: 'room' of this worker, 'gate', or 'bytes' of the reply; where to go on looking.
local picked, stopped, goOnFrom = {}, nil, ''
-- @include parts/suspects.lua
-- @include parts/pick.lua
-- @include parts/offer.lua
-- @include parts/relay.lua
-- @include parts/claim.lua
-- @include parts/after.lua

-- A removal comes first, even of nothing: Redis with a full memory then lets the script finish, and the queue drains.
redis.call('ZREM', sleepersKey, worker)
-- The last of its group to wait; who sleeps next lists the group again.
if wasListed and not ownGroup.sleepers[1] then redis.call('ZREM', sleepingKey, group) end
-- Before anything else is written: where the key is of somebody else's type, nothing is left half done.
if sleepUntil and hears then redis.call('ZADD', sleepingKey, 'GT', digits(sleepUntil), group) end
if globalConcurrency > 0 then writeOffers(activeAfter >= globalConcurrency, fit[1] ~= nil) end
-- Before other writes about these jobs: a job that is claimed anew in this turn gets another record.
if confirmed[1] then redis.call('HSET', claimsKey, unpack(confirmed)) end
if relayTo ~= '' and fit[1] then writeRelayed(fit) end
-- Claim before removing settled jobs: an emptied `active` key would be freed and rebuilt every turn. But not where jobs go back: a
-- running job that somebody has put into its lane may be both put back and claimed in one turn, and then the claim must win.
local putsBack = settlements[1] or expired[1]
if relayTo == '' and fit[1] and not putsBack then writeClaims() end
-- @include parts/settled.lua
if renewed[1] then redis.call('ZADD', activeKey, 'XX', unpack(renewed)) end
if expired[1] then writeRecovered() end
if relayTo == '' and fit[1] and putsBack then writeClaims() end
if rate then writeRate(rate, #fit) end
closeLanes()
-- @include parts/trim.lua
writeUntagged()
if suspect ~= '' then
  -- For as long as a lease: the same turns that renew leases renew it.
  redis.call('ZADD', reservationsKey, digits(now + leaseMs), ownName)
  redis.call('ZREMRANGEBYSCORE', reservationsKey, '-inf', digits(now))
  redis.call('PEXPIRE', reservationsKey, digits(leaseMs))
elseif wish == 'claim' or wish == 'leave' then
  redis.call('ZREM', reservationsKey, ownName)
end
-- @include parts/sleep.lua
-- @include parts/presence.lua
redis.call('SET', servedKey, digits(now) .. ' ' .. digits(recoverFrom) .. ' ' .. digits(postponedAt) .. ' ' .. (filledRoom and worker or lastToFill))
-- Of an idle turn too: a copy of it that was held up on the way would claim what nobody then runs.
redis.call('SET', receiptKey, ARGV[2] .. ' ' .. table.concat(bits) .. '-' .. digits(fence) .. ' ' .. digits(now + leaseMs) .. ' ' .. suspect, 'PX', keepRecordMs)
-- @include parts/wake-others.lua
-- With µs: a worker that took it for the whole millisecond would wake up to one later.
return { 'done', string.format('%.3f', nowUs / 1000), table.concat(bits), lost, toCancel, recovered, late, missing, dropped, digits(lookAt), digits(fence) .. unconfirmed, goOnFrom, hasCompany and '1' or '', suspect, unpack(claimed) }
