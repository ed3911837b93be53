-- Places under `globalConcurrency` that are kept free for a moment, each for the sleeping worker that it was offered to (see offer.lua).
-- `offers` holds "<worker> <job id>" -> until when that place is kept (epoch ms). 0: the place is kept no longer, because the worker came
-- and did not take it, or its time was over. A 0 stays until all places are used up, so that no place is offered twice.

-- The promise is 250 ms. The other 50 are for the round trip of the next worker, and for the timer of the worker that looks again.
local OFFER_MS = 200
-- `counted`: offers that were still running, the one to this worker among them. `held`: places kept for other workers; `ends`: when the
-- first of these is free again. `to`: workers with an offer; `of`: jobs with an offer. `over`: members that keep no place after this
-- turn; their places are not offered again.
local offers
if globalConcurrency > 0 then
  offers = { counted = 0, held = 0, ends = math.huge, to = {}, of = {}, over = {} }
  local found = redis.call('ZRANGE', offersKey, 0, -1, 'WITHSCORES')
  for i = 1, #found, 2 do
    local holder, id = string.match(found[i], '^(%S+) (.*)$')
    local at = tonumber(found[i + 1])
    -- The clock may have gone back.
    local isKept = at > now and at <= now + OFFER_MS
    if at > 0 then offers.counted = offers.counted + 1 end
    if isKept and holder and holder ~= worker then
      offers.held, offers.ends = offers.held + 1, math.min(offers.ends, at)
      offers.to[holder], offers.of[id] = true, true
    else
      offers.over[#offers.over + 1] = found[i]
    end
  end
end
