-- Writes jobs to a stream or a list of the caller's, and notes that they have ended: they count as started and completed. The format
-- is described in docs/relay.md.
-- What a codec made may be bytes, which JSON cannot hold: in a list they follow the JSON, after a line break. As base64 they would take
-- Redis 100 ms for each MiB.
-- A stream could refuse a later entry of the batch only if somebody had given it the highest id there is; then those before it come a
-- second time, and nothing is lost.
-- @needs parts/envelope-tags.lua, parts/clock.lua, parts/envelope.lua
-- @takes settings, decided, fit, base, targetKey, targetType, maxLength, endJob
local queue = string.match(base, '{(.*)}:$')

-- The fields of a job, but for a payload that is not JSON: name, JSON value, and whether the value is a text that is still to be quoted.
local function fieldsOf(job)
  local group = groupOf(laneOf(job.envelope))
  local fields = {
    { 'id', job.id, true },
    { 'name', job.front.name, true },
    { 'queue', queue, true },
    { 'dueAt', digits(job.due) },
    { 'createdAt', job.created },
    { 'attempt', digits(job.claim.attempt + 1) },
    { 'priority', string.match(job.front.lane, '^%d+') },
  }
  local version = string.match(job.front.lane, '\31(%d+)$')
  if version then fields[#fields + 1] = { 'version', version } end
  if group then
    -- As codec/group-text.ts reads it.
    local text = string.gsub(string.gsub(group, ';1', ':'), ';2', ';')
    fields[#fields + 1] = { 'group', text, true }
  end
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

if targetType == 'list' then
  local elements = {}
  for i, job in ipairs(fit) do elements[i] = toElement(job) end
  redis.call('RPUSH', targetKey, unpack(elements))
elseif maxLength == 0 then
  for _, job in ipairs(fit) do redis.call('XADD', targetKey, '*', unpack(toEntry(job))) end
else
  for _, job in ipairs(fit) do redis.call('XADD', targetKey, 'MAXLEN', '~', maxLength, '*', unpack(toEntry(job))) end
end
decided.counted.started = #fit
local remembered = decided.remembered
for _, job in ipairs(fit) do
  endJob(job.id, tagsOf(job.envelope))
  if settings.keepIdsMs > 0 and hasFlag(job.envelope, 'c') then
    remembered[#remembered + 1] = digits(now + settings.keepIdsMs)
    remembered[#remembered + 1] = job.id
  end
end
