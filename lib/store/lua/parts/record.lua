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
  local ids = redis.call('ZRANGE', activeKey, leaseUntil, leaseUntil, 'BYSCORE')
  if not ids[1] then return out end
  local records = redis.call('HMGET', claimsKey, unpack(ids))
  for i, id in ipairs(ids) do
    if isHeld(records[i], fence) then
      local r = parseRecord(records[i])
      local job = { id, digits(r.due), tostring(r.attempt), tostring(r.crashes), redis.call('HGET', jobsKey, id) or '' }
      for _, field in ipairs(job) do out[#out + 1] = field end
    end
  end
  return out
end
