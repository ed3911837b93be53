-- Whether picked jobs need nothing but a lease: nobody has claimed one of them before, none is too late by its rule or damaged, and all fit into one reply.
-- `ids`, `dues`: the jobs, and their due times as text. `envelopes`: theirs; nil where a job needs more.
-- @needs parts/clock.lua
-- @takes me, ids, dues, jobsKey, claimsKey, activeKey, deadKey
-- @gives envelopes
-- @changes unconfirmed
-- As in turn/claim/sift.lua: lanes begin with a digit, so a higher first byte is that of a late rule.
local BYTE_9 = 57
-- How many envelopes are read at first; then twice as many as before.
local FIRST_ENVELOPES = 16
local count, isPlain = #ids, true
-- @include turn/claim/may-be-claimed.lua
local claims = mayBeClaimed and redis.call('HMGET', claimsKey, unpack(ids)) or {}
for i = 1, #claims do isPlain = isPlain and not claims[i] end
-- In portions, so that large envelopes are noticed before many of them have been read.
local read, bytes, most = {}, 0, FIRST_ENVELOPES
while isPlain and #read < count do
  local from = #read
  for i, envelope in ipairs(redis.call('HMGET', jobsKey, unpack(ids, from + 1, math.min(from + most, count)))) do
    bytes = bytes + (envelope and #envelope or math.huge)
    local maxLatenessMs = (string.byte(envelope or '') or 0) > BYTE_9 and string.match(envelope, '^%l(%d+) ')
    -- Too late by its rule, or damaged.
    if bytes > me.maxBytes or maxLatenessMs and now - dues[from + i] > tonumber(maxLatenessMs) then
      isPlain = false
      break
    end
    read[from + i] = envelope
  end
  most = most * 2
end
if isPlain then
  envelopes = read
  -- See turn/claim/envelopes.lua.
  if bytes > UNCONFIRMED_BYTES then unconfirmed = 'u' end
end
