-- Who declares a recurrence. Of a declared one the record holds the owner, "<digest of the declaration> <revision, - = none> <when its
-- process started, epoch ms> <app>". `declared` tells when a live process last declared "<app>\t<id>\t<digest>" (epoch ms), with a minus
-- before it where that has been told as an orphan.
-- @gives ownerOf, memberOf

-- nil where nobody declares it, or somebody has damaged the line.
function ownerOf(entry)
  local digest, byRevision, since, byApp = string.match(entry.rule.owner, '^(%S+) (%S+) (%d+) (.*)$')
  return byApp and { digest = digest, revision = tonumber(byRevision) or -math.huge, since = tonumber(since), app = byApp }
end

function memberOf(byApp, id, digest)
  return byApp .. '\t' .. id .. '\t' .. digest
end
