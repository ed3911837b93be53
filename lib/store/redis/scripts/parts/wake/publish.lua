-- Sends a message to a session: the time at which it is to look, or 'cancel' where one of its jobs is to be cancelled. A message
-- cannot be taken back, so messages go out last in a script, and nothing relies on them: they are hints.
-- @takes base, clustered
-- @gives publish

-- Answers whether somebody may have heard. On a cluster PUBLISH counts only the listeners of this node, so silence there proves nothing,
-- and a message that only asks for the answer (`asks`) is not sent.
function publish(session, message, asks)
  if asks and clustered then return true end
  return redis.call('PUBLISH', base .. 'wake:' .. session, message) > 0 or clustered
end
