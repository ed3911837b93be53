-- Takes in the next steps of chains whose jobs complete in this turn. A step whose job does not, as its lease was lost or it is cancelled, is left out.
-- `nextSteps`: the list of them. `after` is the place of the settlement that a step follows, among all of this turn.
-- @takes ARGV, completedFrom, completedCount, others, nextSteps, bits, decided
decided.steps = {}
for i = 1, nextSteps.n do
  local place = tonumber(nextSteps[1][i])
  if bits[place] == '1' or bits[place] == '3' then
    local after = place <= completedCount and ARGV[completedFrom + place] or others[2][place - completedCount]
    decided.steps[#decided.steps + 1] = { after = after, id = nextSteps[2][i], delayMs = tonumber(nextSteps[3][i]), route = nextSteps[4][i], rest = nextSteps[5][i] }
  end
end
