-- Reads the envelopes of the picked jobs, and cuts the claim where they grow too large for one reply.
-- `envelopes`: in the order of `picked`; false where somebody, or an eviction, has taken one. `unconfirmed`: 'u' where they are so large
-- that a slow link may take longer than the lease to carry them (see parts/claim.lua), else ''.
-- @takes me, jobsKey, giveBack, picked
-- @gives envelopes
-- @changes unconfirmed, stopped
-- They are read in growing chunks, so that large ones are noticed before many of them have been read.
local FIRST_ENVELOPES, LARGE_BYTES = 8, 1048576
envelopes, unconfirmed = {}, ''
local bytes, from, chunk = 0, 1, FIRST_ENVELOPES
while picked[from] do
  local ids = {}
  for i = from, math.min(from + chunk - 1, #picked) do ids[#ids + 1] = picked[i].id end
  for i, envelope in ipairs(redis.call('HMGET', jobsKey, unpack(ids))) do
    bytes = bytes + (envelope and #envelope or 0)
    if bytes > me.maxBytes and from + i - 1 > 1 then
      for cut = #picked, from + i - 1, -1 do
        giveBack(picked[cut])
        picked[cut] = nil
      end
      stopped, unconfirmed = 'size', 'u'
      break
    end
    envelopes[from + i - 1] = envelope
  end
  from = from + #ids
  if bytes > UNCONFIRMED_BYTES then unconfirmed = 'u' end
  if bytes < LARGE_BYTES then chunk = chunk * 2 end
end
