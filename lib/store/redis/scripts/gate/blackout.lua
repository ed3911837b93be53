-- In a blackout nothing of a queue is claimed. `gate` holds its windows, "<from>-<to>" in epoch ms with spaces between them, in order and
-- disjoint: at most a hundred that are on or ahead, and the last ones that are over, as the clock may have gone ahead and be set back. Where
-- others follow, the last one is "<from>-inf": beyond it nobody has computed any, and the queue is shut until somebody has.
-- @needs parts/clock.lua
-- @gives blackoutEnd
-- When the blackout ends that is on, by these windows: math.huge where nobody has computed that; nil where none is on.
function blackoutEnd(windows)
  for from, to in string.gmatch(windows, '(%d+)%-(%w+)') do
    local ends = to == 'inf' and math.huge or tonumber(to)
    if ends and ends > now then return tonumber(from) <= now and ends or nil end
  end
end
