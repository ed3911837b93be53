-- Forgets recurrences. With the last one the queue has nothing to tend.
-- @takes base, gateKey
-- @gives forget
function forget(ids)
  if not ids[1] then return end
  local isLast = redis.call('HLEN', base .. 'timetable') <= #ids and redis.call('HLEN', base .. 'recurrences') <= #ids
  local forgotten = redis.call('HDEL', base .. 'recurrences', unpack(ids))
  -- Redis may have lost one of the two.
  forgotten = forgotten + redis.call('HDEL', base .. 'timetable', unpack(ids))
  if isLast and forgotten > 0 then redis.call('HDEL', gateKey, 'tendAt') end
end
