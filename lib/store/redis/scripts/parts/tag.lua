-- `tag:<tag>` holds the jobs that carry a tag, from their schedule to their end: id -> its position, a number that grows in the order
-- in which they came. It is the time of Redis in microseconds, or more: one above the last job would be given again once that job has
-- gone, and a walk that began before would take the new job for one that was there. `tagJob` notes a job; `writeTagged` writes once for
-- each tag. Of a set, which stands among the tags, nobody needs an order: `members:<set>` is a hash, which takes half of the memory.
-- @needs parts/clock.lua
-- @takes base
-- @gives tagJob, writeTagged
local tagged, taggedList = {}, {}

-- `text`: the tags, a tab before each.
function tagJob(id, text)
  for name in string.gmatch(text, '[^\t]+') do
    local tag = tagged[name]
    if not tag and string.byte(name) == SET_BYTE then
      local set = { key = base .. 'members:' .. string.sub(name, 2), members = {} }
      -- As below.
      redis.call('HLEN', set.key)
      tag = set
      tagged[name] = tag
      taggedList[#taggedList + 1] = tag
    elseif not tag then
      tag = { key = base .. 'tag:' .. name, added = {} }
      -- A key that is no sorted set stops the script here, before any write.
      tag.last = tonumber(redis.call('ZRANGE', tag.key, 0, 0, 'REV', 'WITHSCORES')[2]) or 0
      tagged[name] = tag
      taggedList[#taggedList + 1] = tag
    end
    if tag.members then
      tag.members[#tag.members + 1] = id
      tag.members[#tag.members + 1] = ''
    else
      tag.last = math.max(tag.last + 1, nowUs)
      tag.added[#tag.added + 1] = digits(tag.last)
      tag.added[#tag.added + 1] = id
    end
  end
end

function writeTagged()
  for _, tag in ipairs(taggedList) do
    -- Under a name of its own: the test of the table in keys.ts tells keys apart by the names of variables.
    local set = tag.members and tag
    if set then
      redis.call('HSET', set.key, unpack(set.members))
    else
      redis.call('ZADD', tag.key, unpack(tag.added))
    end
  end
end
