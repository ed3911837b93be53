-- What is kept of the envelope of a job that has ended: its first three lines, without the payloads and the result that its chain holds.
-- @gives withoutPayloads

-- '' where the envelope cannot be read.
function withoutPayloads(envelope)
  local beginning, settings = string.match(envelope, '^([^\n]*\n[^\n]*\n)([^\n]*\n)')
  return beginning and beginning .. string.gsub(settings, '\t[cn][^\t\n]*', '') or ''
end
