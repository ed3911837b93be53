-- A claim: "<fence> <attempt> <crashes> <due> <holder> <lane>" and the job's tags, a tab before each. Fence 0 and holder "-": nobody
-- holds the job. A claim exists from a job's first claim on, and stays while the job waits for its next attempt or lies dead.
-- A second line, JSON, holds the progress that the latest run has reported last; most claims have none.
-- The next claim of the job begins without it.
-- Letters behind the fence are marks for rare cases:
--   c  somebody wants the running job cancelled
--   q  another job is queued behind the running one (see parts/queued.lua)
--   f  final: the job that was queued behind the running one was cancelled, so no attempt and no dead letter follow the run, unless
--      somebody schedules the id anew meanwhile
--   u  unconfirmed: the reply with this claim may be lost. The session renews these jobs before it starts any of them; until then a lost
--      lease is not a crash
--   r  of a dead job: its id is to be remembered once the job is pushed out
--   n  of a waiting job: it took the place of another one, and nobody has claimed it since
-- A marked claim does not begin with its holder's fence and a space, so ordinary settlements pay nothing for marks.
-- @gives hasMark, remarked, parseClaim

function hasMark(marks, mark)
  return marks and string.find(marks, mark, 1, true) ~= nil
end

-- A claim as it is stored with other marks: without those that the pattern names, with one more. nil where somebody has damaged it.
function remarked(text, removed, added)
  local fence, marks, rest = string.match(text, '^(%d+)(%l*)( .*)$')
  return fence and fence .. string.gsub(marks, removed, '') .. added .. rest
end

-- nil where somebody has damaged the claim.
function parseClaim(text)
  local fence, marks, attempt, crashes, due, holder, lane, tags, progress = string.match(text, '^(%d+)(%l*) (%d+) (%d+) (%d+) (%S+) ([^\t\n]*)([^\n]*)\n?(.*)$')
  if not lane then return nil end
  return { fence = fence, marks = marks, attempt = tonumber(attempt), crashes = tonumber(crashes), due = tonumber(due), holder = holder, lane = lane, tags = tags, progress = progress }
end
