-- jobs: all that is known of some jobs, up to as many as one answer has room for.
-- @keys jobs, claims, failures, active, dead, completed, results, queued
-- @arg base text: what every key of the queue begins with
-- @arg bytesLeft bytes: after how many no further job is read
-- @tail ids id: job ids
-- @returns text[][]: what the script `job` answers for each job that was read, in order; the first one is always read
-- @repeat it only reads.
-- @needs look/known.lua
local jobs = {}
for i = idsFrom, #ARGV do
  local job = knownOf(ARGV[i])
  jobs[#jobs + 1] = job
  for _, text in ipairs(job) do bytesLeft = bytesLeft - #text end
  if bytesLeft <= 0 then break end
end
return jobs
