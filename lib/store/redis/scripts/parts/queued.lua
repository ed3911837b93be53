-- A job that replaces a running one is kept whole in `queued` until the run leaves its handler: job id -> "<due> <envelope>".
-- Meanwhile the running job's claim has the mark 'q', and the id stands in the tag index under the tags of both jobs.
-- @needs parts/envelope-tags.lua, parts/envelope.lua
-- @takes queuedKey
-- @gives readQueued, tagsWithout

-- The queued job of an id: its due time, envelope, lane and tags; nil where none is queued, or where it cannot be read.
function readQueued(id)
  local due, envelope = string.match(redis.call('HGET', queuedKey, id) or '', '^(%d+) (.*)$')
  local lane = envelope and laneOf(envelope) or ''
  if lane == '' then return nil end
  return { due = tonumber(due), envelope = envelope, lane = lane, tags = tagsOf(envelope) }
end

-- The tags of the first text that the second one lacks. Under a tag that both jobs have, the id keeps its place in the index.
function tagsWithout(some, others)
  return (string.gsub(some, '\t[^\t]+', function(tag)
    if string.find(others .. '\t', tag .. '\t', 1, true) then return '' end
  end))
end
