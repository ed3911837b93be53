-- What this turn decides of jobs: read phases note it here, write phases write it.
-- `endedIds`: jobs that leave the queue and need nothing besides. `settlements`: jobs that end in another way or go back, with their
-- transition. `expired`: ids whose leases have run out; `returning`, those of them that go back to their lanes; `recovered`, five for each:
-- id, name, attempt, what became of the job, the worker that held it ('' = not known).
-- `counted`: counter -> by how much. `remembered`: two for each chosen id of a job that ends, when to forget it and the id.
-- `lookAgain`: there is more to fetch at once, as a job that this turn puts back is due already or a job that it picked was turned away.
-- @takes untagJob
-- @gives endedIds, settlements, returning, expired, recovered, counted, remembered, lookAgain, endJob
endedIds, settlements, returning, expired, recovered = {}, {}, {}, {}, {}
counted, remembered, lookAgain = {}, {}, false

-- `tags`: those of the job, a tab before each.
function endJob(id, tags)
  endedIds[#endedIds + 1] = id
  if tags ~= '' then untagJob(id, tags) end
end
