-- Who declares a recurrence. Of a declared one the record holds the owner, "<digest of the declaration> <revision, - = none> <when its
-- process started, epoch ms> <app>". `declared` tells when a live process last declared "<app>\t<id>\t<digest>" (epoch ms), with a minus
-- before it where that has been told as an orphan. It also tells when a process of an app was heard last, under "<app>\tbeat", and since
-- when they have been heard without a gap, under "<app>\tsince": after an outage, or where the clock went ahead, nobody has declared
-- anything for long, and all that live may be about to do so.
-- @needs parts/clock.lua
-- @takes base, app
-- @gives ownerOf, memberOf, heardSince, noteBeat

-- nil where nobody declares it, or somebody has damaged the line.
function ownerOf(entry)
  local digest, byRevision, since, byApp = string.match(entry.rule.owner, '^(%S+) (%S+) (%d+) (.*)$')
  return byApp and { digest = digest, revision = tonumber(byRevision) or -math.huge, since = tonumber(since), app = byApp }
end

function memberOf(byApp, id, digest)
  return byApp .. '\t' .. id .. '\t' .. digest
end

local sinceByApp = {}

-- Since when processes of an app have been heard without a gap.
function heardSince(byApp)
  if not sinceByApp[byApp] then
    local since = redis.call('ZSCORE', base .. 'declared', byApp .. '\tsince')
    -- Of this app one is heard now.
    sinceByApp[byApp] = since and tonumber(since) or byApp == app and now or 0
  end
  return sinceByApp[byApp]
end

-- A process of this app is heard. Answers what to write, members of `declared` with their scores.
function noteBeat(gapMs)
  local last = redis.call('ZSCORE', base .. 'declared', app .. '\tbeat')
  if not last or tonumber(last) < now - gapMs then sinceByApp[app] = now end
  return { digits(now), app .. '\tbeat', digits(heardSince(app)), app .. '\tsince' }
end
