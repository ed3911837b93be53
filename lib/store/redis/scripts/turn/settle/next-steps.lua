-- Takes in the next steps of chains whose jobs complete in this turn. A step whose job does not, as its lease was lost or it is cancelled, is left out.
-- `nextSteps`: the list of them. `settlement` says which settlement of the turn a step follows, from 1: first those of `completed`, then the others.
-- @takes ARGV, completedFrom, completedCount, others, nextSteps, bits, decided
for i = 1, nextSteps.n do
  local index = tonumber(nextSteps[1][i])
  if bits[index] == '1' or bits[index] == '3' then
    local after = index <= completedCount and ARGV[completedFrom + index] or others[2][index - completedCount]
    decided.steps = decided.steps or {}
    decided.steps[#decided.steps + 1] = { after = after, id = nextSteps[2][i], delayMs = tonumber(nextSteps[3][i]), route = nextSteps[4][i], rest = nextSteps[5][i] }
  end
end
