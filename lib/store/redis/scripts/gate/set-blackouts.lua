-- set-blackouts: put other blackouts in the place of those of a queue, or keep the list and compute its blackouts further ahead.
-- @numbered
-- @keys gate, sleeping
-- @given clustered
-- @arg isNew flag: whether the list is a new one; else it is to be the one that the queue has
-- @arg rules text: the list as its caller gave it, JSON; '' = none
-- @arg windows text: its windows, as `gate` holds them (see gate/blackout.lua)
-- @arg moreAt number: when more are to be computed (epoch ms), 0 = never
-- @returns isSet '1' | '0': '0' where the queue has another list meanwhile
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now), earlierAnswer } end
-- @include gate/gate.lua
-- @needs gate/blackout.lua, gate/opening.lua

local result = (isNew or redis.call('HGET', gateKey, 'blackoutRules') == rules) and '1' or '0'
-- Who has seen the blackout that is on is to look again where it ends earlier now. Else they sleep on.
local endsAt, opensAt = blackoutEnd(gate.blackouts), blackoutEnd(windows) or now
if result == '1' and endsAt and opensAt < endsAt then readForOpening(opensAt) end
-- First a write that needs no memory: Redis only looks at the first, and a full memory may be why somebody sets a blackout.
redis.call('PEXPIRE', receiptKey, keepReceiptMs)
if result == '1' then
  for field, value in pairs({ blackouts = windows, blackoutRules = rules, blackoutsTendAt = moreAt > 0 and digits(moreAt) or '' }) do
    if value == '' then
      redis.call('HDEL', gateKey, field)
    else
      redis.call('HSET', gateKey, field, value)
    end
  end
end
-- @include parts/answer.lua
wakeForOpening()
return { 'done', digits(now), result }
