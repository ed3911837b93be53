-- The tags in an envelope (see parts/envelope.lua), apart from the rest that is read of one: each claim copies them into the job's claim.
-- @gives tagsOf

-- The tags of an envelope, a tab before each; '' for none.
function tagsOf(envelope)
  -- Most envelopes have no tags, and a small one is searched for a tab faster than it is matched.
  if #envelope < 1000 and not string.find(envelope, '\t', 1, true) then return '' end
  return string.match(envelope, '^[^\n]*\n%d+ %l*(\t[^\n]*)') or ''
end
