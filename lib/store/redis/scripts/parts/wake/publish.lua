-- Sends a message to a session: the time at which it is to look, or 'cancel' where one of its jobs is to be cancelled. A message
-- cannot be taken back, so messages go out last in a script, and nothing relies on them: they are hints.
-- @needs parts/clock.lua
-- @takes base, clustered
-- @gives publish, publishTime

-- Answers whether somebody may have heard. On a cluster PUBLISH counts only the listeners of this node, so silence there proves nothing,
-- and a message that only asks for the answer (`asks`) is not sent.
function publish(session, message, asks)
  if asks and clustered then return true end
  return redis.call('PUBLISH', base .. 'wake:' .. session, message) > 0 or clustered
end

-- Now is sent with its µs: a session whose turn came later has seen already what the message tells of (see hint-channel.ts).
function publishTime(session, at, asks)
  return publish(session, at == now and nowWithUs or digits(at), asks)
end
