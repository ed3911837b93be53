-- versions: how many jobs of one name there are, by version: first those that wait, lane by lane, then those that run, with those queued behind
--   them, then dead ones. A call does as much as is allowed, so jobs of a large queue are not counted at one moment: one that dies
--   meanwhile may be counted twice, and one whose lease is renewed, or which goes back to its lane, may be missed.
-- @keys levels, active, dead, claims, queued
-- @arg base text: what every key of the queue begins with
-- @arg name text: job name
-- @arg from text: where to go on, '' = from the start
-- @arg costLeft count: how many lanes and jobs to look at, about
-- @returns next text, ...counts text[]: where to go on, '' = all is counted; three for each version and state: version, 'waiting' | 'active' |
--   'dead', how many
-- @repeat it only reads.
-- @needs parts/clock.lua, parts/envelope.lua, parts/claim.lua, parts/queued.lua, look/each-lane.lua
local counts = { waiting = {}, active = {}, dead = {} }
-- '1' where the lane names none.
local function count(state, lane, by)
  if nameOf(lane) ~= name then return end
  local version = string.match(lane, '\31(%d+)$') or '1'
  counts[state][version] = (counts[state][version] or 0) + by
end

-- Claims are read in chunks, and no further than this: they hold what their jobs have reported.
local CHUNK, MOST_BYTES = 50, 262144
local bytes = 0
-- Goes on through a sorted set at this rank, the latest first: a job that is added between two calls moves others towards the end, where they are
-- still to be counted. Answers at which rank to go on, nil where the end is reached.
local function countClaimed(state, key, rank)
  while costLeft > 0 and bytes < MOST_BYTES do
    local ids = redis.call('ZRANGE', key, rank, rank + CHUNK - 1, 'REV')
    if not ids[1] then return nil end
    for i, text in ipairs(redis.call('HMGET', claimsKey, unpack(ids))) do
      bytes = bytes + #(text or '')
      local claim = parseClaim(text or '')
      if claim then count(state, claim.lane, 1) end
      local queued = claim and hasMark(claim.marks, 'q') and readQueued(ids[i])
      if queued then
        bytes = bytes + #queued.envelope
        count('waiting', queued.lane, 1)
      end
    end
    rank, costLeft = rank + #ids, costLeft - #ids
  end
  return rank
end

local step, place = string.match(from == '' and 'l ' or from, '^(%l) (.*)$')
if step == 'l' then
  place = eachLane(place, '+inf', costLeft, function(lane)
    costLeft = costLeft - 1
    if nameOf(lane) == name then count('waiting', lane, redis.call('ZCARD', base .. 'lane:' .. lane)) end
    return 1
  end)
  if place == '' then step, place = 'a', 0 end
end
if step == 'a' then
  place = countClaimed('active', activeKey, tonumber(place))
  if not place then step, place = 'd', 0 end
end
if step == 'd' then place = countClaimed('dead', deadKey, tonumber(place)) end

local reply = { place and step .. ' ' .. place or '' }
for state, byVersion in pairs(counts) do
  for version, many in pairs(byVersion) do
    for _, field in ipairs({ version, state, digits(many) }) do reply[#reply + 1] = field end
  end
end
return reply
