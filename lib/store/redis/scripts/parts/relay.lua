-- What a relay picks is not put under a lease: it is written to a stream or a list of the caller's, and is gone from the queue,
-- counted as started and completed. That write comes before all others of the turn: where Redis refuses it, for want of a
-- permission, nothing has moved. A stream could refuse a later entry of the batch only if somebody had given it the
-- highest id there is; then those before it come a second time, and nothing is lost.
-- The format is described in docs/relay.md. Headers are JSON already, and so is the payload, unless a codec made it; all pass as they
-- are stored. What a codec made may be bytes, which JSON cannot hold: in a list it follows the JSON, after a line break. As base64 it
-- would take Redis 100 ms for each MiB.
local readForRelay, writeRelayed
if relayTo ~= '' then
  local streamLength = ARGV[28]
  local queue = string.match(base, '{(.*)}:$')

  -- Takes an envelope apart; false if it is none.
  function readForRelay(job)
    local created, settings, payload = string.match(job.envelope, '^[^\n]*\n(%d+) [^\n]*\n([^\n]*)\n(.*)$')
    if not created then return false end
    job.created, job.payload = digits(tonumber(created)), payload
    job.codec = string.match(settings, '^[tb]:([%w._-]+)')
    -- Nothing that comes before the headers holds free text (see envelope-text.ts).
    job.headers = string.match(settings, '"headers":({.*})}$')
    local tags = {}
    for tag in string.gmatch(tagsOf(job.envelope), '[^\t]+') do tags[#tags + 1] = cjson.encode(tag) end
    job.tags = tags[1] and '[' .. table.concat(tags, ',') .. ']'
    return true
  end

  -- As the names and JSON values of its fields; the third says that a value is text. A payload that is not JSON is no field.
  local function fieldsOf(job)
    local fields = {
      { 'id', job.id, true },
      { 'name', job.front.name, true },
      { 'queue', queue, true },
      { 'dueAt', digits(job.due) },
      { 'createdAt', job.created },
      { 'attempt', digits(job.record.attempt + 1) },
      { 'priority', string.match(job.front.lane, '^%d+') },
    }
    if job.tags then fields[#fields + 1] = { 'tags', job.tags } end
    if job.headers then fields[#fields + 1] = { 'headers', job.headers } end
    if job.codec then
      fields[#fields + 1] = { 'codec', job.codec, true }
    elseif job.payload ~= '' then
      -- A job without a payload has an empty one, which no JSON text is.
      fields[#fields + 1] = { 'payload', job.payload }
    end
    return fields
  end

  local function toEntry(job)
    local entry = {}
    for _, field in ipairs(fieldsOf(job)) do
      entry[#entry + 1] = field[1]
      entry[#entry + 1] = field[2]
    end
    if job.codec then
      entry[#entry + 1] = 'payload'
      entry[#entry + 1] = job.payload
    end
    return entry
  end

  local function toElement(job)
    local members = {}
    for i, field in ipairs(fieldsOf(job)) do
      members[i] = '"' .. field[1] .. '":' .. (field[3] and cjson.encode(field[2]) or field[2])
    end
    local object = '{' .. table.concat(members, ',') .. '}'
    return job.codec and object .. '\n' .. job.payload or object
  end

  local function writeEntry(job)
    if streamLength == '0' then
      redis.call('XADD', targetKey, '*', unpack(toEntry(job)))
    else
      redis.call('XADD', targetKey, 'MAXLEN', '~', streamLength, '*', unpack(toEntry(job)))
    end
  end

  function writeRelayed(fit)
    if relayTo == 'stream' then
      for _, job in ipairs(fit) do writeEntry(job) end
    else
      local elements = {}
      for i, job in ipairs(fit) do elements[i] = toElement(job) end
      redis.call('RPUSH', targetKey, unpack(elements))
    end
    -- They go with what has completed.
    for _, job in ipairs(fit) do
      leave(job.id, tagsOf(job.envelope))
      rememberId({ id = job.id, first = idWasChosen(job.envelope) and 'r' or '' })
    end
    count('started', #fit)
  end
end
