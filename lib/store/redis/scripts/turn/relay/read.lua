-- Takes the envelopes of the picked jobs apart, for a relay to write their parts. An envelope that cannot be taken apart is damaged:
-- sift.lua ends such a job. Headers are JSON already, and so is a payload that no codec made; all pass as they are stored.
-- @needs parts/envelope-tags.lua, parts/clock.lua
-- @takes picked, envelopes
for i = 1, #picked do
  local job, envelope = picked[i], envelopes[i] or ''
  local created, settings, payload = string.match(envelope, '^[^\n]*\n(%d+) [^\n]*\n([^\n]*)\n(.*)$')
  if created then
    job.created, job.payload = digits(tonumber(created)), payload
    job.codec = string.match(settings, '^[tb]:([%w._-]+)')
    -- Nothing that comes before the headers holds free text (see envelope-text.ts).
    job.headers = string.match(settings, '"headers":({.*})}$')
    local tags = {}
    for tag in string.gmatch(tagsOf(envelope), '[^\t]+') do tags[#tags + 1] = cjson.encode(tag) end
    job.tags = tags[1] and '[' .. table.concat(tags, ',') .. ']'
  else
    job.damage = 'unreadable'
  end
end
