-- What a group may do now. What `setGroup` has set for it counts before what holds for each group of the queue.
-- `groupSettings` holds, of a group, "<weight> <concurrency> <rate's max> <rate's window in ms> <the rate's perMs>", '-' for what is left out and 0
-- for unlimited. `holders` holds, under `'fifo'`, the job of the group that has begun and has not ended. `rate:@<group>` is a log of its starts
-- (see gate/rate.lua).
-- `stateOf` answers a table, of one group the same table throughout a script:
--   weight    how many turns it has for each one of a group of weight 1
--   free      how many more of its jobs may start now
--   heldBy    where none may: why, the first of 'paused', 'rate', 'order' and 'concurrency' that is true
--   opensAt   where none may: when `heldBy` ends, math.huge for when a job of it has ended. Another limit may hold the group then
--   only      under `'fifo'`, the holder where it is due again: no other job of the group may start. {id, lane, dueText}
--   isFifo    whether a job that starts becomes the holder of the group
--   rate, rateWindowMs, isAhead  where its rate is limited: the log of its starts, its window, and whether the clock went back behind the latest start
--   places    how many more of its jobs may run, math.huge for any
--   picks, starts  how many of its jobs this script has picked, and has started; nil where nothing holds for any group
--   startsSuspect  whether one of those it has started takes no turn, as it is a suspect
-- `groupsRule`: "<concurrency> <rate's max> <rate's window in ms> <'due' or 'fifo'>" of the queue, 0 for none. `runsJobs`: false for a relay:
-- the jobs that it moves need no place, and no order holds them back. `leaving`: the jobs that leave their places in this script (see
-- turn/groups/begin.lua).
-- `readHolders`: asks at once for the holders of groups whose states are asked for next.
-- @needs parts/clock.lua, parts/claim.lua
-- @takes base, ofGroups, groupsRule, runsJobs, leaving
-- @changes stateOf, readHolders
local states, areSomeSet, areSomePaused = {}, nil, nil
-- The rule of a queue that limits no group, and the state of all its groups while `setGroup` and `pauseGroup` have set nothing either.
local UNLIMITED, FREE = '0 0 0 due', { weight = 1, free = math.huge, places = math.huge, isFifo = false }
local placesOfEach, maxOfEach, windowOfEach, order = string.match(groupsRule, '^(%d+) (%d+) (%d+) (%a+)$')

local leavingOf
local function countLeaving(group)
  if not leavingOf then
    leavingOf = {}
    for member in pairs(leaving) do
      local whose = string.match(member, '^[^\t]*')
      leavingOf[whose] = (leavingOf[whose] or 0) + 1
    end
  end
  return leavingOf[group] or 0
end

-- How many running jobs of a group are compared with `active`: Lua hands over 8000 arguments at most.
local LOOKED_AT = 4000
-- How many jobs of a group hold a place.
local function countActive(group, limit)
  local first, last = '[' .. group .. '\t', '(' .. group .. '\n'
  local count = redis.call('ZLEXCOUNT', base .. 'runningOfGroups', first, last)
  if count < limit then return count - countLeaving(group) end
  -- A job that leaves its place in this script does not count, nor one that somebody has taken out of `active`.
  local members, ids = redis.call('ZRANGE', base .. 'runningOfGroups', first, last, 'BYLEX', 'LIMIT', 0, LOOKED_AT), {}
  for i, member in ipairs(members) do ids[i] = string.sub(member, #group + 2) end
  count = count - #members
  for i, lease in ipairs(ids[1] and redis.call('ZMSCORE', base .. 'active', unpack(ids)) or {}) do
    if not lease then
      ofGroups.running[members[i]] = ofGroups.running[members[i]] or false
    elseif not leaving[members[i]] then
      count = count + 1
    end
  end
  return count
end

-- Group -> id of its holder, false for none: of groups for which it was asked.
local holderIds = {}
function readHolders(groups)
  if not (runsJobs and order == 'fifo' and groups[1]) then return end
  for i, id in ipairs(redis.call('HMGET', base .. 'holders', unpack(groups))) do holderIds[groups[i]] = id end
end

-- The holder of a group: {id, lane, due, dueText} where it waits, {due} where this script puts it back, true where it runs; nil for none.
local function findHolder(group)
  local id = ofGroups.holders[group]
  if id == nil then id = holderIds[group] end
  if id == nil then id = redis.call('HGET', base .. 'holders', group) end
  if not id then return nil end
  local backAt = leaving[group .. '\t' .. id]
  if backAt then return { due = backAt } end
  if redis.call('ZSCORE', base .. 'active', id) then return true end
  local claim = parseClaim(redis.call('HGET', base .. 'claims', id) or '')
  local due = claim and redis.call('ZSCORE', base .. 'lane:' .. claim.lane, id)
  if due then return { id = id, lane = claim.lane, due = tonumber(due), dueText = due } end
  -- Somebody has deleted the job.
  ofGroups.holders[group] = false
end

local function readState(group)
  if areSomeSet == nil then
    areSomeSet, areSomePaused = redis.call('HLEN', base .. 'groupSettings') > 0, redis.call('ZCARD', base .. 'groupPauses') > 0
  end
  if not areSomeSet and not areSomePaused and groupsRule == UNLIMITED then return FREE end
  local set = areSomeSet and redis.call('HGET', base .. 'groupSettings', group) or ''
  local weight, places, max, window = string.match(set, '^(%S+) (%S+) (%S+) (%S+)')
  local isFifo = runsJobs and order == 'fifo'
  local function limitOf(own, ofEach) return tonumber(own ~= '-' and own or ofEach) end
  places, max, window = limitOf(places or '-', placesOfEach), limitOf(max or '-', maxOfEach), limitOf(window or '-', windowOfEach)
  if isFifo then places = 1 end
  local state = { weight = tonumber(weight ~= '-' and weight or 1), free = math.huge, places = math.huge, isFifo = isFifo, rateWindowMs = window, picks = 0, starts = 0 }
  local function hold(heldBy, ends)
    state.free, state.heldBy, state.opensAt = 0, heldBy, ends
    return state
  end
  if max > 0 then
    local rateKey, rateWindowMs = base .. 'rate:@' .. group, window
    -- @include gate/rate.lua
    state.rate, state.free, state.isAhead = rate, math.max(0, max - (rate.total - rate.before)), rate.at and rate.at > now
  end
  local ends = areSomePaused and tonumber(redis.call('ZSCORE', base .. 'groupPauses', group) or 0) or 0
  if ends > now then return hold('paused', ends) end
  if state.free == 0 then return hold('rate', state.rate.opensAt) end
  local holder = isFifo and findHolder(group)
  if holder == true then return hold('order', math.huge) end
  if holder and (holder.due > now or not holder.lane) then return hold('order', holder.due) end
  state.only = holder or nil
  if places > 0 and runsJobs then
    state.places = places - countActive(group, places)
    if state.places <= 0 then return hold('concurrency', math.huge) end
    state.free = math.min(state.free, state.places)
  end
  return state
end

function stateOf(group)
  states[group] = states[group] or readState(group)
  return states[group]
end
