-- Places under `globalConcurrency` that are kept free for a moment, each for the sleeping worker that it was offered to (see offer.lua).
-- `offers` holds "<worker> <job id>" -> until when that place is kept (epoch ms). 0: the worker came and did not take the place, or the
-- time was over and somebody has been told; that stays until the places are used up, so that no place is offered a second time.

-- The rule is 250 ms: what is left is for the ways of those who come then, and for the timer of the one that looks again.
local OFFER_MS = 200
-- `counted`: places that nobody was told of yet, this worker's own among them. `held`: those kept for others, `ends`: when the first
-- of these is free again. `to` and `of`: the workers and jobs that places are offered to and for. `over`: members that hold no place
-- after this turn, whose places are not offered again.
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
