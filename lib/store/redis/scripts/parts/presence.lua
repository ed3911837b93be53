-- `workers` holds who was here lately, so that it can be told who is alive, where, and what they handle.
if presence ~= '' then
  -- How long one that has died without a word stays listed, and the list after its last worker.
  local FORGOTTEN_WORKER_MS = 3600000
  local self = group .. ' ' .. worker .. ' ' .. string.match(ARGV[21], '^%l* ?(.*)$')
  if presence == 'gone' then
    redis.call('ZREM', workersKey, self)
  elseif presence == 'here' then
    redis.call('ZADD', workersKey, digits(now), self)
    redis.call('ZREMRANGEBYSCORE', workersKey, '-inf', digits(now - FORGOTTEN_WORKER_MS))
    redis.call('PEXPIRE', workersKey, FORGOTTEN_WORKER_MS)
  end
end
