-- Which declaration of a recurrence wins.
-- @needs parts/clock.lua, recur/declare/owner.lua
-- @takes base, app, revision, startedAt, orphanAfterMs
-- @gives ownerLine, withOwner, judgeDeclared, noteDeclared

function ownerLine(digest)
  return digest .. ' ' .. revision .. ' ' .. digits(startedAt) .. ' ' .. app
end

-- A record with another owner.
function withOwner(record, owner)
  local head, others = string.match(record, '^([^\n]*\n)[^\n]*(\n.*)$')
  return head .. owner .. others
end

-- Whether this process is to win over the owner: by a higher revision, or, where they are the same, by a later start.
local function isStronger(owner)
  local ours = tonumber(revision) or -math.huge
  if ours ~= owner.revision then return ours > owner.revision end
  return startedAt > owner.since
end

local function isAlive(entry, owner)
  local last = redis.call('ZSCORE', base .. 'declared', memberOf(owner.app, entry.id, owner.digest))
  -- After a gap it has as much time to be heard as the others.
  local heardAt = math.max(tonumber(last or 0), heardSince(owner.app), heardSince(app))
  return heardAt >= now - orphanAfterMs
end

-- What becomes of a declaration: 'upserted' or 'loses'; 'wins' where it is the rule; 'owns' where it is, but this process is its owner
-- from now on; 'needed' where it is to become the rule.
function judgeDeclared(entry, digest)
  if not entry.rule or not entry.state then return 'needed' end
  if entry.rule.owner == '' then return 'upserted' end
  local owner = ownerOf(entry)
  if owner and owner.digest == digest then
    -- Else one that started between the two would win over a rule that a later process declares as well.
    return (isStronger(owner) or owner.app ~= app and not isAlive(entry, owner)) and 'owns' or 'wins'
  end
  return owner and not isStronger(owner) and isAlive(entry, owner) and 'loses' or 'needed'
end

-- Members of `declared`.
function noteDeclared(members)
  local fields = {}
  for _, member in ipairs(members) do
    fields[#fields + 1] = digits(now)
    fields[#fields + 1] = member
  end
  if fields[1] then redis.call('ZADD', base .. 'declared', unpack(fields)) end
end
