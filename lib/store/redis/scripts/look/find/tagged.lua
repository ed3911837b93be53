-- A step through the jobs of the tag that the fewest carry. The first step chooses it, and each place begins with its number among the tags:
-- the sizes change meanwhile, and a place in one set is none in another.
-- @needs look/find/walk.lua
-- @takes base, tags
-- @gives walkSmallest
local keys = {}
for tag in string.gmatch(tags, '[^\t]+') do keys[#keys + 1] = base .. 'tag:' .. tag end

local function smallest()
  local chosen, fewest = 1, nil
  for i, key in ipairs(keys) do
    local count = #keys > 1 and redis.call('ZCARD', key) or 0
    if not fewest or count < fewest then
      chosen, fewest = i, count
    end
  end
  return chosen
end

-- Appends ids to `found`; answers where to go on, '' where the walk is over.
function walkSmallest(from, size, found)
  local number, place = string.match(from, '^(%d+) (.*)$')
  number = tonumber(number) or smallest()
  local goOn = walkStep(keys[number], place or '', size, found)
  return goOn == '' and '' or number .. ' ' .. goOn
end
