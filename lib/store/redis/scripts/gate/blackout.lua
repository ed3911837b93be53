-- In a blackout nothing of a queue is claimed. `gate` holds its windows, "<from>-<to>" in epoch ms with spaces between them, in order and
-- disjoint: at most a hundred that are on or ahead, and the last ones that are over, as the clock may have gone ahead and be set back. Where
-- others follow, the last one is "<from>-inf": beyond it nobody has computed any, and the queue is shut until somebody has.
-- @needs parts/clock.lua
-- @gives blackoutEnd
local function endOf(to)
  return to == 'inf' and math.huge or tonumber(to)
end

-- When the blackout ends that is on, by these windows: math.huge where nobody has computed that; nil where none is on. A hundred may be over
-- and more, so they are passed over by halves first.
function blackoutEnd(windows)
  local low, high = 1, #windows
  while high - low > 100 do
    local middle = string.find(windows, ' ', math.floor((low + high) / 2), true)
    local ends = middle and middle < high and endOf(string.match(windows, '^ %d+%-(%w+)', middle))
    if not ends then break end
    if ends <= now then low = middle + 1 else high = middle end
  end
  for from, to in string.gmatch(string.sub(windows, low), '(%d+)%-(%w+)') do
    local ends = endOf(to)
    if ends and ends > now then return tonumber(from) <= now and ends or nil end
  end
end
