-- Claims what turn/claim/one-lane.lua has picked: the jobs leave their lane, the lane and its level get their next heads, as `closeLanes` in
-- parts/lanes.lua would write them, and each job gets its lease.
-- `entering`: next steps that enter the same lane, nil for none (turn/settle/steps-of-one-lane.lua). They are written after the removal; then the lane's head
-- is read again where one of them may be the first.
-- `firstDueAt`: when the next job of the queue is due then; math.huge for none.
-- @needs parts/clock.lua, parts/claim-text.lua, parts/envelope-tags.lua
-- @takes settings, me, base, earliest, oneLane, entering, heads, jobsKey, fence, unconfirmed, claimed, levelsKey, activeKey, claimsKey, statsKey, fenceKey
-- @changes firstDueAt
local ids, dues, lane, priority = oneLane.ids, oneLane.dues, oneLane.lane, oneLane.priority
local startedCount, nextId, nextDue, nextDueAt = #ids, oneLane.nextId, oneLane.nextDue, oneLane.nextDueAt
local otherDue, otherDueAt = heads[4], tonumber(heads[4] or math.huge)
-- The first write removes: Redis with a full memory then lets the script finish, and the queue drains.
redis.call('ZREMRANGEBYRANK', base .. 'lane:' .. lane, 0, startedCount - 1)
if entering then
  redis.call('ZADD', base .. 'lane:' .. lane, unpack(entering.members))
  if nextDueAt >= entering.due then
    nextId, nextDue = unpack(redis.call('ZRANGE', base .. 'lane:' .. lane, 0, 0, 'WITHSCORES'))
    nextDueAt = tonumber(nextDue)
  end
  redis.call('HSET', jobsKey, unpack(entering.fields))
  redis.call('HINCRBY', statsKey, 'scheduled', #entering.fields / 2)
end
if nextDue then redis.call('ZADD', base .. 'heads:' .. priority, nextDue, nextId .. '\t' .. lane) end
redis.call('ZREM', base .. 'heads:' .. priority, heads[1])
if not nextDue then
  local laneName, isThere = lane, false
  -- @include parts/list-version.lua
end
local levelDue = otherDueAt < nextDueAt and otherDue or nextDue
if not levelDue then
  redis.call('ZREM', levelsKey, priority)
elseif levelDue ~= earliest[2] then
  redis.call('ZADD', levelsKey, levelDue, priority)
end
firstDueAt = math.min(otherDueAt, nextDueAt, tonumber(earliest[4] or math.huge))

local leases, held, fenceText, leaseUntil = {}, {}, digits(fence) .. unconfirmed, digits(now + settings.leaseMs)
local due, text
for i = 1, startedCount do
  local id, envelope = ids[i], oneLane.envelopes[i]
  -- Jobs of one burst have one due time, and so one claim.
  if dues[i] ~= due then
    due = dues[i]
    text = formatClaim(fenceText, '1', '0', due, me.session, lane, '')
  end
  leases[2 * i - 1], leases[2 * i] = leaseUntil, id
  held[2 * i - 1], held[2 * i] = id, text .. tagsOf(envelope)
  claimed[3 * i - 2], claimed[3 * i - 1], claimed[3 * i] = id, due, envelope
end
-- @include turn/claim/write-leases.lua
