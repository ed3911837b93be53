-- workers: which workers are alive, and who holds the running jobs, so many of these at a time.
-- @keys workers, active, claims
-- @arg withinMs ms: how long ago a worker may have been here last
-- @arg passOver count: how many running jobs to pass over
-- @arg limit count: how many to look at
-- @returns looked text, isWhole '1' | '0', alive text[], holders value[]: looked: at how many running jobs; isWhole: none is left; two for
--   each worker, the one last here first: its member of `workers`, when it was here; three for each holder and name of the jobs looked at:
--   worker, name, how many
-- @repeat it only reads.
-- @needs parts/clock.lua, parts/envelope.lua, parts/claim.lua
local alive = redis.call('ZRANGE', workersKey, '+inf', digits(now - withinMs), 'BYSCORE', 'REV', 'WITHSCORES')
local ids = redis.call('ZRANGE', activeKey, digits(passOver), digits(passOver + limit - 1))
local running, holders = {}, {}
-- A claim is read whole, with the progress that its run has reported: so they are read in chunks, and no further than this.
local CHUNK, MOST_BYTES = 50, 262144
local bytes, looked = 0, 0

local function count(record)
  local claim = parseClaim(record)
  local name = claim and claim.fence ~= '0' and nameOf(claim.lane)
  if name then
    local names = running[claim.holder] or {}
    running[claim.holder], names[name] = names, (names[name] or 0) + 1
  end
end

while looked < #ids and bytes < MOST_BYTES do
  local last = math.min(looked + CHUNK, #ids)
  for _, record in ipairs(redis.call('HMGET', claimsKey, unpack(ids, looked + 1, last))) do
    bytes = bytes + #(record or '')
    count(record or '')
  end
  looked = last
end
for holder, names in pairs(running) do
  for name, count in pairs(names) do
    for _, each in ipairs({ holder, name, count }) do holders[#holders + 1] = each end
  end
end
return { digits(looked), looked == #ids and #ids < limit and '1' or '0', alive, holders }
