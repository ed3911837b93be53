-- Keeps what has become of jobs that a call cancels, where the queue's `keepEnded` says so. Read phase: `noteEnding`; once the call has
-- written something that needs no memory: `writeEndings`.
-- @needs parts/claim.lua, parts/without-payloads.lua
-- @takes settings, base
-- @gives noteEnding, writeEndings
local endings = {}

-- `due`: as text. `reason`: in quotes.
function noteEnding(id, envelope, due, reason)
  -- Only spares the work: without it `writeEndings` would drop in the same call what it has just written.
  if settings.keepEnded == '' then return end
  -- Keys of another type stop the script here, before any write.
  if not endings[1] then
    redis.call('ZCARD', base .. 'ended')
    redis.call('HLEN', base .. 'endings')
  end
  local claim = parseClaim(redis.call('HGET', base .. 'claims', id) or '') or { attempt = 0 }
  endings[#endings + 1] = id
  endings[#endings + 1] = 'c ' .. claim.attempt .. ' ' .. due .. ' ' .. reason .. '\n' .. withoutPayloads(envelope)
end

function writeEndings()
  if endings[1] then
    -- @include parts/keep-ended.lua
  end
end
