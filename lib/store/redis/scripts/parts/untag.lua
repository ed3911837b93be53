-- Takes jobs that end out of the index of each tag that they carry. A job's tags, a tab before each, stand in its envelope and,
-- from its first claim on, at the end of its claim record as well: so whoever ends jobs that were claimed need not read their
-- envelopes, which may be large.
-- What is to be untagged is noted, and written once for each tag: a key that a script may have emptied it does not touch again.
-- Needs `base`.
local untagJob, writeUntagged
do
  local untagged, untaggedList = {}, {}

  -- `text`: the tags, a tab before each.
  function untagJob(id, text)
    for name in string.gmatch(text, '[^\t]+') do
      local tag = untagged[name]
      if not tag then
        tag = { key = base .. 'tag:' .. name, removed = {} }
        untagged[name] = tag
        untaggedList[#untaggedList + 1] = tag
      end
      tag.removed[#tag.removed + 1] = id
    end
  end

  -- An index that somebody has damaged must not stop a script in the middle of its writes.
  function writeUntagged()
    for _, tag in ipairs(untaggedList) do redis.pcall('ZREM', tag.key, unpack(tag.removed)) end
  end
end

-- The tags in a claim record, without taking it apart.
local function tagsOfRecord(record)
  local from = string.find(record, '\t', 1, true)
  return from and string.sub(record, from) or ''
end
