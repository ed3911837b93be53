-- Claims what turn/claim/one-lane.lua has picked: the jobs leave their lane, the lane and its level get their next heads, and each job its lease.
-- `firstDueAt`: when the next job of the queue is due then; math.huge for none.
-- @needs parts/clock.lua, parts/claim-text.lua, parts/envelope-tags.lua
-- @takes settings, me, base, earliest, oneLane, heads, fence, claimed, levelsKey, activeKey, claimsKey, statsKey, fenceKey
-- @changes firstDueAt
local taken, ofLane, lane = oneLane.ids, oneLane.jobs, oneLane.name
local startedCount, level = #taken, earliest[1]
local nextId, nextDue, otherDue = ofLane[2 * startedCount + 1], ofLane[2 * startedCount + 2], heads[4]
-- The first write removes: Redis with a full memory then lets the script finish, and the queue drains.
redis.call('ZREM', base .. 'lane:' .. lane, unpack(taken))
if nextId then redis.call('ZADD', base .. 'heads:' .. level, nextDue, nextId .. '\t' .. lane) end
redis.call('ZREM', base .. 'heads:' .. level, heads[1])
local levelDue = nextDue and otherDue and tonumber(otherDue) < tonumber(nextDue) and otherDue or nextDue or otherDue
if not levelDue then
  redis.call('ZREM', levelsKey, level)
elseif levelDue ~= earliest[2] then
  redis.call('ZADD', levelsKey, levelDue, level)
end
firstDueAt = math.min(tonumber(levelDue or math.huge), tonumber(earliest[4] or math.huge))

local leases, held, fenceText, leaseUntil = {}, {}, digits(fence), digits(now + settings.leaseMs)
for i = 1, startedCount do
  local id, due, envelope = taken[i], ofLane[2 * i], oneLane.envelopes[i]
  leases[2 * i - 1], leases[2 * i] = leaseUntil, id
  held[2 * i - 1], held[2 * i] = id, formatClaim(fenceText, '1', '0', due, me.session, lane, tagsOf(envelope))
  claimed[3 * i - 2], claimed[3 * i - 1], claimed[3 * i] = id, due, envelope
end
-- @include turn/claim/write-leases.lua
