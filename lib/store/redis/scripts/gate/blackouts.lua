-- blackouts: the blackouts that were set, and until when one lasts that is on.
-- @keys gate
-- @returns now text, ends text, rules text, tendAt text: the time of Redis; until when a blackout lasts that is on (epoch ms; 'inf' where
--   nobody has computed that; '' where none is on); the list, '' where none was set; when more blackouts are to be computed (epoch ms, '' =
--   never)
-- @repeat it only reads.
-- @needs parts/clock.lua
-- @include gate/gate.lua
-- @needs gate/blackout.lua
local ends = blackoutEnd(gate.blackouts)
local rules = redis.call('HGET', gateKey, 'blackoutRules') or ''
return { digits(now), ends and (ends == math.huge and 'inf' or digits(ends)) or '', rules, gate.blackoutsAt and digits(gate.blackoutsAt) or '' }
