-- Keeps what has become of the jobs that this turn discards or cancels, where the queue's `keepEnded` says so. A turn that picks nothing
-- drops what is too old. Before the jobs are deleted.
-- @needs parts/clock.lua, parts/without-payloads.lua
-- @takes settings, decided, picked, base, jobsKey
local endings, settlements = {}, decided.settlements
if settlements[1] and settings.keepEnded ~= '' then
  local ended, ids = {}, {}
  for _, s in ipairs(settlements) do
    if s.transition == 'discard' or s.transition == 'cancel' then ended[#ended + 1], ids[#ids + 1] = s, s.id end
  end
  for i, envelope in ipairs(ids[1] and redis.call('HMGET', jobsKey, unpack(ids)) or {}) do
    local s = ended[i]
    local claim, isDiscarded = s.claim, s.transition == 'discard'
    -- A run that was cancelled has the reason that its settlement cannot say.
    local reason = s.reason or isDiscarded and s.second or '"cancelRunning"'
    local numbers = (claim.attempt or 0) .. ' ' .. digits(claim.due or now)
    endings[#endings + 1] = ids[i]
    endings[#endings + 1] = (isDiscarded and 'd ' or 'c ') .. numbers .. ' ' .. (reason == '' and '""' or reason) .. '\n' .. withoutPayloads(envelope or '')
  end
end
if endings[1] or not picked[1] then
  -- @include parts/keep-ended.lua
end
