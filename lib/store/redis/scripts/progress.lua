-- progress: keep what running jobs have reported, with their claims. A report counts only under the fence of the job's claim, so that a
--   worker which has lost its lease writes nothing.
-- @keys claims
-- @tail reports id, fence, number, value: `number` counts the reports of one run; `value` is JSON
-- @returns text: a digit for each report in order: '1' its lease is held; '0' the lease is lost, and nothing was kept
-- @repeat it changes nothing: a report that has come already, or that a later one of its run has overtaken, is passed over.
local bits, fields = {}, {}
for i = reportsFrom, #ARGV, 4 do
  local id, fence, number, value = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  -- The format of shared/claim.lua. Nobody holds a job whose fence is 0.
  local claim, last = string.match(redis.call('HGET', claimsKey, id) or '', '^([1-9][^\n]*)\n?(%d*)')
  local isHeld = claim ~= nil and string.match(claim, '^%d+') == fence
  bits[#bits + 1] = isHeld and '1' or '0'
  if isHeld and tonumber(number) > (tonumber(last) or 0) then
    fields[#fields + 1] = id
    fields[#fields + 1] = claim .. '\n' .. number .. ' ' .. value
  end
end
if fields[1] then redis.call('HSET', claimsKey, unpack(fields)) end
return table.concat(bits)
