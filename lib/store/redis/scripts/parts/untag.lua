-- Takes jobs that end out of the index of each tag that they carry. A job's tags, a tab before each, stand in its envelope and,
-- from its first claim on, at the end of its claim as well: so a script that ends claimed jobs need not read their envelopes,
-- which may be large.
-- Among the tags stands the set of a job (see parts/follow-ups.lua), whose index, `members:<set>`, holds the members that are pending. So a job leaves its set earlier than
-- its tags where it dies, and once only: `untagJob` takes it out of the set only where it is told how the job ends.
-- `untagJob` notes a job; `writeUntagged` writes once for each tag, because a key that a script may have emptied is not touched again.
-- `leftSets`: the sets that jobs leave, nil for none: `name`, `key` of the index, `removed`, ids, `hows`, how each of these ends, and `left`,
-- how many were there, once they have been taken out.
-- @takes base
-- @gives untagJob, writeUntagged, tagsOfClaim, leftSets
local untagged, untaggedList = {}, {}

-- `text`: the tags, a tab before each. `how` the job ends: 'completed', 'dead', 'discarded' or 'cancelled'; nil where its set is left alone.
function untagJob(id, text, how)
  for name in string.gmatch(text, '[^\t]+') do
    local isSet = string.byte(name) == SET_BYTE
    if how or not isSet then
      local tag = untagged[name]
      if not tag then
        tag = { name = name, key = isSet and base .. 'members:' .. string.sub(name, 2) or base .. 'tag:' .. name, removed = {}, hows = {}, left = 0 }
        untagged[name] = tag
        untaggedList[#untaggedList + 1] = tag
        if isSet then
          leftSets = leftSets or {}
          leftSets[#leftSets + 1] = tag
        end
      end
      tag.removed[#tag.removed + 1] = id
      if isSet then tag.hows[#tag.removed] = how end
    end
  end
end

-- An index that somebody has damaged must not stop a script in the middle of its writes.
function writeUntagged()
  for _, tag in ipairs(untaggedList) do
    local left
    -- Under a name of its own: the test of the table in keys.ts tells keys apart by the names of variables.
    local set = tag.hows[1] and tag
    if set then
      left = redis.pcall('HDEL', set.key, unpack(set.removed))
    else
      left = redis.pcall('ZREM', tag.key, unpack(tag.removed))
    end
    if type(left) == 'number' then tag.left = left end
  end
end

-- The tags in a claim, without taking it apart.
function tagsOfClaim(claim)
  local from = string.find(claim, '\t', 1, true)
  if not from then return '' end
  -- A report of progress may follow in a second line. It holds no tab.
  local lineEnd = string.find(claim, '\n', from, true)
  return string.sub(claim, from, lineEnd and lineEnd - 1 or -1)
end
