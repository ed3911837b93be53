-- find: look at some jobs, and tell those that a search wants.
-- @keys jobs, claims, failures, active, dead, completed, results, queued
-- @arg base text: what every key of the queue begins with
-- @arg walk text: through what: 'jobs', 'active', 'dead', 'completed', 'tag:<tag>', or 'ids', those given
-- @arg from text: where to go on, '' = from the start
-- @arg size count: about how many jobs to look at
-- @arg limit count: how many to tell at the most
-- @arg bytesLeft bytes: after how many none is told any more
-- @arg states text: the states that are wanted, commas between them
-- @arg idPrefix text: how their ids begin
-- @arg names text: their names, line breaks between them, '' = any
-- @arg tags text: tags all of which they carry, tabs between them, '' = any
-- @arg dueFrom epoch ms: when they are due at the earliest
-- @arg dueTo epoch ms: before when they are due
-- @tail ids id: job ids
-- @returns next text, looked text, bytes text, left text[], ...jobs text[][]: where to go on, '' = the walk is over; how many jobs were looked
--   at, and how many bytes that took; ids of further ones that may be wanted; for each job that is told its id and what the script `job` answers
-- @repeat it only reads.
-- @include shared/clock.lua
-- @include shared/envelope.lua
-- @include jobs/waiting.lua
-- @include jobs/queued.lua
-- @include jobs/known.lua
-- @include find/fits.lua
-- @include find/scan.lua
-- @include find/walk.lua
local ids, goOn, looked, bytes = {}, '', size, 0
if walk == 'ids' then
  for i = idsFrom, #ARGV do ids[#ids + 1] = ARGV[i] end
elseif walk == 'jobs' then
  local found = {}
  goOn = scanStep(false, from, size, (string.gsub(idPrefix, '([%*%?%[%]\\])', '\\%1')) .. '*', found)
  for i = 1, #found, 2 do
    bytes = bytes + #found[i + 1]
    if fitsEnvelope(found[i], found[i + 1]) then ids[#ids + 1] = found[i] end
  end
  looked = math.max(looked, #found / 2)
elseif walk == 'active' then
  local found = {}
  goOn = scanStep(true, from, size, '', found)
  for i = 1, #found, 2 do ids[#ids + 1] = found[i] end
else
  goOn = walkStep(base .. walk, from, size, ids)
end

local left, jobs = {}, {}
for i = 1, #ids do
  if #jobs == limit or bytesLeft <= 0 then
    left[#left + 1] = ids[i]
  else
    local known = knownOf(ids[i])
    local envelope = known[4]
    if known[2] == 'completed' then envelope = string.match(known[7], '^[^\n]*\n[^\n]*\n(.*)$') or '' end
    if envelope and fitsEnvelope(ids[i], envelope) and fitsKnown(known) then
      for _, text in ipairs(known) do
        bytes, bytesLeft = bytes + #text, bytesLeft - #text
      end
      table.insert(known, 1, ids[i])
      jobs[#jobs + 1] = known
    end
  end
end
return { goOn, digits(looked), digits(bytes), left, unpack(jobs) }
