-- handled: which workers that are alive handle a versioned name.
-- @keys workers
-- @arg base text: what every key of the queue begins with
-- @arg name text: versioned name
-- @arg withinMs ms: how long ago a worker may have been here last
-- @returns count text, ...workers text[]: how many there are, and at most ten of those that were here last
-- @repeat it only reads.
-- @needs parts/clock.lua, parts/wake/handles.lua
local LISTED = 10
local handles, workers, count = {}, {}, 0
for _, member in ipairs(redis.call('ZRANGE', workersKey, '+inf', digits(now - withinMs), 'BYSCORE', 'REV')) do
  local crew, worker = string.match(member, '^(%S+) (%S+)')
  if handles[crew] == nil then handles[crew] = handledAmong(crew, { name })[1] == 1 end
  if handles[crew] then
    count = count + 1
    if count <= LISTED then workers[count] = worker end
  end
end
return { tostring(count), unpack(workers) }
