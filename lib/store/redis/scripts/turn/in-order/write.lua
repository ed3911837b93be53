-- Writes what turn/in-order/pick.lua has picked, what has completed, and what groups are then: as parts/lanes.lua, turn/groups/turns.lua and parts/of-groups.lua would.
-- @needs parts/clock.lua, parts/claim-text.lua, parts/envelope-tags.lua, parts/untag.lua
-- @takes settings, me, base, endedIds, grouping, indexed, priority, name, turning, joined, freed, picks, envelopes, waiting, isTurnsEmpty, outlook, lastFence, unconfirmed, claimed, jobsKey, claimsKey, failuresKey, activeKey, statsKey, fenceKey, sleepersKey
-- @changes fence
-- Members and their due times that enter a level of groups' lanes, seen or unseen, and members that leave it.
local toSeen, toUnseen, fromSeen, fromUnseen = {}, {}, {}, {}
-- Members of `groups` and `runningOfGroups`, groups and ids in `holders`, and what `held` is told.
local emptied, starting, holding, holdingUntil = {}, {}, {}, {}

local leases, claims, leaseUntil = {}, {}, digits(now + settings.leaseMs)
if picks[1] then
  -- @include turn/claim/next-fence.lua
end
local fenceText = digits(fence) .. unconfirmed
local function add(list, due, member)
  local at = #list
  list[at + 1], list[at + 2] = due, member
end
local isStarting = {}
for i, unit in ipairs(picks) do
  local group, lane, id, due, nextId, nextDue = unit.group, unit.lane, unpack(unit.jobs)
  redis.call('ZREM', base .. 'lane:' .. lane, id)
  isStarting[group] = true
  leases[2 * i - 1], leases[2 * i] = leaseUntil, id
  claims[2 * i - 1], claims[2 * i] = id, formatClaim(fenceText, '1', '0', due, me.session, lane, tagsOf(envelopes[i]))
  claimed[3 * i - 2], claimed[3 * i - 1], claimed[3 * i] = id, due, envelopes[i]
  starting[2 * i - 1], starting[2 * i] = '0', group .. '\t' .. id
  holding[2 * i - 1], holding[2 * i] = group, id
  holdingUntil[2 * i - 1], holdingUntil[2 * i] = 'inf', group
  local member = id .. '\t' .. lane
  if unit.head and not unit.head.wasSeen then fromUnseen[#fromUnseen + 1] = member end
  fromSeen[#fromSeen + 1] = member
  if not nextId then
    emptied[#emptied + 1] = group .. '\t' .. lane
  else
    add(tonumber(nextDue) <= now and toSeen or toUnseen, nextDue, nextId .. '\t' .. lane)
  end
  if unit.freed then unit.freed.headDue = nextDue end
end
for _, head in ipairs(joined) do
  if not isStarting[head.group] and not head.wasSeen then
    local member = head.id .. '\t' .. head.lane
    fromUnseen[#fromUnseen + 1] = member
    add(toSeen, head.due, member)
  end
end
for _, lane in ipairs(freed) do
  if lane.headDue and tonumber(lane.headDue) > now and lane.jobs[2] == lane.headDue then
    -- A lane that is not due is unseen, whatever the clock has done meanwhile.
    local member = lane.jobs[1] .. '\t' .. lane.name
    fromSeen[#fromSeen + 1] = member
    add(toUnseen, lane.headDue, member)
  end
end

if picks[1] then
  local held, startedCount = claims, #picks
  -- @include turn/claim/write-leases.lua
end
if endedIds[1] then
  local hasFailures = redis.call('EXISTS', failuresKey) == 1
  -- @include turn/settle/write-completed.lua
elseif not picks[1] then
  redis.call('ZREM', sleepersKey, me.session)
  outlook.isOffSleepers = true
end

-- Where many groups are under way: see write-leases.lua.
local MANY = 8
local LONG = #picks >= MANY and string.rep('\n', 65)
-- The levels, and when the first lane of each is due.
local isSeenEmpty, unseenDue = false, nil
if toSeen[1] or toUnseen[1] or fromSeen[1] or fromUnseen[1] then
  local unseenKey, seenKey = base .. 'heads:' .. priority .. ':@', base .. 'heads:' .. priority .. '^:@'
  if toUnseen[1] then redis.call('ZADD', unseenKey, unpack(toUnseen)) end
  if fromUnseen[1] then redis.call('ZREM', unseenKey, unpack(fromUnseen)) end
  if LONG and toSeen[1] then
    redis.call('ZADD', seenKey, '0', LONG, unpack(toSeen))
    fromSeen[#fromSeen + 1] = LONG
  elseif toSeen[1] then
    redis.call('ZADD', seenKey, unpack(toSeen))
  end
  if fromSeen[1] then redis.call('ZREM', seenKey, unpack(fromSeen)) end
  local indexedDue = {}
  for i = 1, #indexed, 2 do indexedDue[indexed[i]] = indexed[i + 1] end
  local function index(level, key)
    local due = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
    if due and due ~= indexedDue[level] then
      redis.call('ZADD', base .. 'levels:' .. '@', due, level)
    elseif not due and indexedDue[level] then
      redis.call('ZREM', base .. 'levels:' .. '@', level)
    end
    return due
  end
  isSeenEmpty = not index(priority .. '^', seenKey)
  if toUnseen[1] or fromUnseen[1] or isSeenEmpty then unseenDue = index(priority, unseenKey) end
end

-- The turns. They are forgotten where no group has a due job any more, as in `closeLanes`.
local areForgotten = isSeenEmpty and (picks[1] or freed[1]) and (grouping.areSomeUnseen or not unseenDue or tonumber(unseenDue) > now)
if areForgotten then
  redis.call('UNLINK', base .. 'turns:' .. priority .. ':' .. (name or ''), base .. 'turning:' .. priority, base .. 'left:' .. priority)
elseif priority and name then
  -- With all its digits, so that it is read as the same number: groups may have had weights.
  local TURN = '%.17g'
  local present, joining, leaving, toLeft, noted = turning.present, {}, {}, {}, {}
  for _, unit in ipairs(picks) do
    present = math.max(present, unit.from)
    if not unit.head then leaving[#leaving + 1] = unit.group end
  end
  for _, unit in ipairs(picks) do
    if unit.from + 1 > present then add(toLeft, string.format(TURN, unit.from + 1), unit.group) end
  end
  for _, unit in ipairs(waiting) do
    if not unit.isPicked then add(joining, string.format(TURN, unit.from), unit.group) end
  end
  local turnsKey, turningKey, leftKey = base .. 'turns:' .. priority .. ':' .. name, base .. 'turning:' .. priority, base .. 'left:' .. priority
  if LONG and joining[1] then
    redis.call('ZADD', turnsKey, '0', LONG, unpack(joining))
    leaving[#leaving + 1] = LONG
  elseif joining[1] then
    redis.call('ZADD', turnsKey, unpack(joining))
  end
  if leaving[1] then redis.call('ZREM', turnsKey, unpack(leaving)) end
  if joining[1] and not turning.isNoted then add(noted, ':' .. name, '1') end
  if present > turning.present then add(noted, 'turn', string.format(TURN, present)) end
  if noted[1] then redis.call('HSET', turningKey, unpack(noted)) end
  if isTurnsEmpty and not joining[1] then redis.call('HDEL', turningKey, ':' .. name) end
  if toLeft[1] then redis.call('ZADD', leftKey, unpack(toLeft)) end
  -- Groups that come back later than this join at the present anyway.
  if present > turning.present then
    local over = redis.call('ZRANGE', leftKey, '-inf', string.format(TURN, present), 'BYSCORE', 'LIMIT', 0, 100 + #picks)
    if over[1] then redis.call('ZREM', leftKey, unpack(over)) end
  end
end

-- The groups: those whose jobs have ended are held no longer, unless they start their next one.
local ended, stopping, freeing = grouping.ended, {}, {}
for i = 1, #ended, 2 do
  local group = ended[i + 1]
  stopping[#stopping + 1] = group .. '\t' .. ended[i]
  if not isStarting[group] then freeing[#freeing + 1] = group end
end
if emptied[1] then redis.call('ZREM', base .. 'groups', unpack(emptied)) end
if starting[1] then
  redis.call('ZADD', base .. 'runningOfGroups', unpack(starting))
  redis.call('ZADD', base .. 'held', unpack(holdingUntil))
  redis.call('HSET', base .. 'holders', unpack(holding))
end
if stopping[1] then redis.call('ZREM', base .. 'runningOfGroups', unpack(stopping)) end
if freeing[1] then
  redis.call('ZREM', base .. 'held', unpack(freeing))
  redis.call('HDEL', base .. 'holders', unpack(freeing))
end
