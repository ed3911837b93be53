-- What this turn decides of jobs, and what it tells its session of them. Read phases note it here, write phases write it.
-- `decided`:
--   endedIds       see turn/settle/ended.lua
--   settlements    jobs that end in another way or go back, each with its transition
--   expired        ids whose leases have run out
--   returning      those of them that go back to their lanes
--   renewed        two for each renewed job: when its lease ends, its id
--   confirmed      two for each unconfirmed job that is renewed: its id, and its claim without the mark
--   reported       two for each held job that has reported progress: its id, and its claim with that
--   takeovers      see takeover.lua; nil where no run ends that a queued job could take the place of
--   steps          the next steps of chains whose jobs complete here; nil for none (see parts/follow-ups.lua)
--   counted        counter -> by how much
--   remembered     two for each chosen id of a job that ends: when to forget it, the id
--   died           how many of the settled jobs are dead now
--   trimsAgain     there is more to trim, which only a whole turn does
--   looksAgain      there is more to fetch at once: a job that this turn puts back or adds may be due already, or one that it picked was turned away
-- `report`: lists for the answer, whose fields stand in the @returns of turn.lua.
-- @takes endedIds, bits
-- @gives decided, report
decided = {
  endedIds = endedIds, settlements = {}, expired = {}, returning = {}, renewed = {}, confirmed = {}, reported = {}, takeovers = nil, steps = nil,
  counted = {}, remembered = {}, died = 0, looksAgain = false, trimsAgain = false,
}
report = { bits = bits, lost = {}, toCancel = {}, recovered = {}, late = {}, brokenJobs = {}, deadDropped = {} }
