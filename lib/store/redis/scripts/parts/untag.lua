-- Takes jobs that end out of the index of each tag that they carry. A job's tags, a tab before each, stand in its envelope and,
-- from its first claim on, at the end of its claim as well: so a script that ends claimed jobs need not read their envelopes,
-- which may be large.
-- `untagJob` notes a job; `writeUntagged` writes once for each tag, because a key that a script may have emptied is not touched again.
-- @takes base
-- @gives untagJob, writeUntagged, tagsOfClaim
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

-- The tags in a claim, without taking it apart.
function tagsOfClaim(claim)
  local from = string.find(claim, '\t', 1, true)
  if not from then return '' end
  -- A report of progress may follow in a second line. It holds no tab.
  local lineEnd = string.find(claim, '\n', from, true)
  return string.sub(claim, from, lineEnd and lineEnd - 1 or -1)
end
