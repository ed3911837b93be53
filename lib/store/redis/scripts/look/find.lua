-- find: look at some jobs, and tell those that a search wants.
-- @keys jobs, claims, failures, active, dead, completed, results, queued
-- @arg base text: what every key of the queue begins with
-- @arg walk text: through what: 'jobs', 'active', 'dead', 'completed', 'tagged' = the jobs of the tag that the fewest carry, 'members' = the pending members of the set that comes first among the tags, or 'ids', those given
-- @arg from text: where to go on, '' = from the start
-- @arg size count: about how many jobs to look at
-- @arg limit count: how many to tell at the most
-- @arg bytesLeft bytes: after about how many none is read any more
-- @arg states text: the states that are wanted, commas between them
-- @arg idPrefix text: how their ids begin
-- @arg names text: their names, line breaks between them, '' = any
-- @arg tags text: tags all of which they carry, tabs between them, '' = any
-- @arg group text: whose jobs they are, as in their routes, '' = anybody's
-- @arg dueFrom epoch ms: when they are due at the earliest
-- @arg dueTo epoch ms: before when they are due
-- @tail ids id: job ids
-- @returns next text, looked text, bytes text, left text[], ...jobs text[][]: where to go on, '' = the walk is over, with a '~' behind it where
--   jobs may be met again (see look/find/scan.lua); how many jobs were looked at, and how many bytes that took; ids of further ones that may be wanted; for each job that is told its id and what the script `job` answers
-- @repeat it only reads.
-- @needs parts/clock.lua, look/known.lua, look/find/fits.lua, look/find/scan.lua, look/find/walk.lua, look/find/tagged.lua
-- A scan ends after fewer bytes: it comes to further jobs before it sees how large they are. What has been read may be told as well.
local MOST_SCANNED, MOST_TOLD = bytesLeft * 3 / 4, bytesLeft * 2
local ids, envelopes, goOn, looked, bytes = {}, {}, '', nil, 0
if walk == 'ids' then
  for i = idsFrom, #ARGV do ids[#ids + 1] = ARGV[i] end
elseif walk == 'jobs' then
  local found = {}
  goOn, looked, bytes = scanStep(jobsKey, from, size, MOST_SCANNED, found)
  for i = 1, #found, 2 do
    if fitsEnvelope(found[i], found[i + 1]) then
      ids[#ids + 1] = found[i]
      envelopes[found[i]] = found[i + 1]
    end
  end
elseif walk == 'active' or walk == 'members' then
  local found = {}
  goOn, looked, bytes = scanStep(walk == 'active' and activeKey or base .. 'members:' .. string.match(tags, '^\31([^\t]*)'), from, size, MOST_SCANNED, found)
  for i = 1, #found, 2 do ids[#ids + 1] = found[i] end
elseif walk == 'tagged' then
  goOn = walkSmallest(from, size, ids)
else
  goOn = walkStep(base .. walk, from, size, ids)
end

local left, jobs = {}, {}
for i, id in ipairs(ids) do
  local read = envelopes[id]
  -- The first one is always taken, however large it is, or nobody would get past it.
  if #jobs == limit or bytes > 0 and bytes + #(read or '') > (read and MOST_TOLD or bytesLeft) then
    left[#left + 1] = id
  else
    local known = knownOf(id, read)
    local size = 0
    for _, text in ipairs(known) do size = size + #text end
    bytes = bytes + size - #(read or '')
    local envelope = known[4]
    if known[2] == 'completed' then envelope = string.match(known[7], '^[^\n]*\n[^\n]*\n(.*)$') or '' end
    if envelope and fitsEnvelope(id, envelope) and fitsKnown(known) then
      bytes = bytes + size
      table.insert(known, 1, id)
      jobs[#jobs + 1] = known
    end
  end
end
return { goOn, digits(looked or math.max(1, #ids - #left)), digits(bytes), left, unpack(jobs) }
