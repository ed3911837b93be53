-- permissions: tell which commands of the other scripts this user may not run, and fail with UNSUPPORTED where this server can run none of
-- the scripts. A script that met such a command or key would have begun to write.
-- @keys trial
-- @arg base text: what every key of the queue begins with
-- @arg all flag: whether those too that only some calls use, such as relays; else these are not tried, as without them nothing is half done
-- @returns ...missing text[]: commands, usually none
-- @repeat it leaves nothing behind.
local missing = {}
local absent = {}

-- The words differ between versions: 'can't run this command' until 7.0, 'no permissions to run' since.
local function note(command, answer)
  local refusal = type(answer) == 'table' and answer.err or ''
  local isMissing = string.find(refusal, "The user executing the script can't", 1, true)
    or string.find(refusal, 'permission', 1, true)
  if isMissing then missing[#missing + 1] = command end
  -- A managed Redis may have switched a command off, as rename-command does.
  local isAbsent = string.find(string.lower(refusal), 'unknown .*command')
  if isAbsent then absent[#absent + 1] = command end
  return not isMissing and not isAbsent
end

-- The key is absent and stays so: each of these commands writes nothing, or is refused for its malformed arguments.
local function try(command, ...) note(command, redis.pcall(command, ...)) end
try('EXISTS', trialKey)
try('UNLINK', trialKey)
try('PEXPIRE', trialKey, '1')
try('GET', trialKey)
try('SET', trialKey, '', 'XX')
try('MGET', trialKey)
try('HGET', trialKey, '')
try('HMGET', trialKey, '')
try('HEXISTS', trialKey, '')
try('HGETALL', trialKey)
try('HLEN', trialKey)
try('HSCAN', trialKey, '0')
try('HSET', trialKey, 'a field', 'its value', 'a field without one')
try('HINCRBY', trialKey, 'a field', 'no number')
try('HDEL', trialKey, '')
try('SCARD', trialKey)
try('SMEMBERS', trialKey)
try('SMISMEMBER', trialKey, '')
try('ZADD', trialKey, 'XX', '0', '')
try('ZCARD', trialKey)
try('ZCOUNT', trialKey, '0', '0')
try('ZRANGE', trialKey, '0', '0')
try('ZSCAN', trialKey, '0')
try('ZLEXCOUNT', trialKey, '-', '+')
try('ZSCORE', trialKey, '')
try('ZMSCORE', trialKey, '')
try('ZREM', trialKey, '')
try('ZREMRANGEBYRANK', trialKey, '0', '0')
try('ZREMRANGEBYSCORE', trialKey, '0', '0')
try('TIME')
-- A channel like those that wake workers, and of none of them.
try('PUBLISH', base .. 'wake:', '')
if all then
  for command, arguments in pairs({
    TYPE = {},
    ZREVRANGE = { '0', '0' },
    XADD = { 'NOMKSTREAM', '*', 'a field', 'its value' },
    XTRIM = { 'MAXLEN', '0' },
    XRANGE = { '-', '+' },
    XREVRANGE = { '+', '-' },
  }) do
    note(command, redis.pcall(command, trialKey, unpack(arguments)))
  end
end
-- SADD always writes. Where DEL is not allowed the key could not be deleted again: SADD is not tried then, and DEL is told as missing.
if note('DEL', redis.pcall('DEL', trialKey)) then
  note('SADD', redis.pcall('SADD', trialKey, ''))
  local push = 'RPUSH'
  -- Refused for the set, or deleted with it.
  if all then note(push, redis.pcall(push, trialKey, '')) end
  redis.pcall('DEL', trialKey)
end
if absent[1] then
  return redis.error_reply(
    'UNSUPPORTED This server does not run '
      .. table.concat(absent, ', ')
      .. ' in scripts, which jobs need. Switch it on there, or use another Redis.'
  )
end
-- The other scripts make the names of most keys that they use.
local undeclared = redis.pcall('EXISTS', trialKey .. ':undeclared')
if type(undeclared) == 'table' and string.find(undeclared.err, 'undeclared', 1, true) then
  return redis.error_reply(
    'UNSUPPORTED This server keeps scripts from keys that they do not declare. Start Dragonfly with --default_lua_flags=allow-undeclared-keys.'
  )
end
return missing
