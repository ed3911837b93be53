-- A claim record: "<fence> <attempt> <crashes> <due> <holder> <lane>". Fence 0 and holder "-": nobody holds the job.
-- It exists from a job's first claim on, and outlives it while the job waits for its next attempt or lies dead.
local function isHeld(record, fence)
  return record and string.sub(record, 1, #fence + 1) == fence .. ' '
end

local function parseRecord(record)
  local fence, attempt, crashes, due, holder, lane = string.match(record, '^(%d+) (%d+) (%d+) (%d+) (%S+) (.*)$')
  return { fence = fence, attempt = tonumber(attempt), crashes = tonumber(crashes), due = tonumber(due), holder = holder, lane = lane }
end

local function formatRecord(fence, attempt, crashes, due, holder, lane)
  return fence .. ' ' .. attempt .. ' ' .. crashes .. ' ' .. due .. ' ' .. holder .. ' ' .. lane
end

local function unheldRecord(r)
  return formatRecord('0', r.attempt, r.crashes, digits(r.due), '-', r.lane)
end

-- Puts the jobs that one call has claimed together again: they share its fence and, not renewed since, the end of its lease.
local function claimedWith(fence, leaseUntil)
  local out = {}
  for _, id in ipairs(redis.call('ZRANGE', activeKey, leaseUntil, leaseUntil, 'BYSCORE')) do
    local record = redis.call('HGET', claimsKey, id)
    if isHeld(record, fence) then
      local r = parseRecord(record)
      local job = { id, digits(r.due), tostring(r.attempt), tostring(r.crashes), redis.call('HGET', jobsKey, id) or '' }
      for _, field in ipairs(job) do out[#out + 1] = field end
    end
  end
  return out
end
