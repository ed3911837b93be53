-- Places under `globalConcurrency` that are kept free for a moment, each for the sleeping session that it was offered to (see offer.lua).
-- `offers` in Redis holds "<session> <job id>" -> until when that place is kept (epoch ms). 0: the place is kept no longer, because the
-- session came and did not take it, or its time was over. A 0 stays until all places are used up, so that no place is offered twice.
-- `offers`: nil in a queue without that limit, else
--   before, running  how many jobs ran before this turn, and how many still run: what it settles or recovers makes room. A dead job that
--                    was recovered stands among the settlements
--   counted          offers that were still running, the one to this session among them
--   held, ends       places kept for others, and when the first of these is free again
--   to, of           sessions with an offer, jobs with an offer
--   over             members that keep no place after this turn, and whose places are not offered again
--   made, unheard    the offers of this turn, and sleepers that did not hear of one (see offer.lua)
-- @takes settings, me, decided, activeKey, offersKey, now
-- @gives OFFER_MS, offers
-- The promise is 250 ms. The other 50 are for the round trip of the next session, and for the timer of the session that looks again.
OFFER_MS = 200
if settings.globalConcurrency > 0 then
  local leavingCount = #decided.endedIds + #decided.settlements + #decided.returning
  local before = redis.call('ZCARD', activeKey)
  offers = { before = before, running = before - leavingCount, counted = 0, held = 0, ends = math.huge, to = {}, of = {}, over = {} }
  local found = redis.call('ZRANGE', offersKey, 0, -1, 'WITHSCORES')
  for i = 1, #found, 2 do
    local holder, id = string.match(found[i], '^(%S+) (.*)$')
    local at = tonumber(found[i + 1])
    -- The clock may have gone back.
    local isKept = at > now and at <= now + OFFER_MS
    if at > 0 then offers.counted = offers.counted + 1 end
    if isKept and holder and holder ~= me.session then
      offers.held, offers.ends = offers.held + 1, math.min(offers.ends, at)
      offers.to[holder], offers.of[id] = true, true
    else
      offers.over[#offers.over + 1] = found[i]
    end
  end
end
