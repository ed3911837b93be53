-- blackouts: the blackouts that were set, and until when one lasts that is on.
-- @keys gate, blackouts, blackoutRules
-- @returns now text, ends text, version text, rules text, tendAt text, copy text: the time of Redis; until when a blackout lasts that is on (epoch
--   ms; 'inf' where nobody has computed that; '' where none is on); which list it is, and the list, '' where none was set; when more
--   blackouts are to be computed (epoch ms, '' = never); what `gate` holds of the one that is on or comes next (see shared/blackout.lua)
-- @repeat it only reads.
-- @needs shared/clock.lua
-- @include shared/gate.lua
-- @include shared/blackout.lua
local ends = ''
if blackout and blackout.isOn then ends = blackout.to == math.huge and 'inf' or digits(blackout.to) end
local version, rules = string.match(redis.call('GET', blackoutRulesKey) or '', '^(%d+) (.*)$')
return { digits(now), ends, version or '', rules or '', redis.call('HGET', gateKey, 'blackoutsTendAt') or '', gate.blackout }
