-- Jobs that leave the queue in this turn and need nothing besides, most of them as they have completed.
-- `endedIds`: their ids. `bits`: what the answer says of each settlement (see turn/settle/completed.lua).
-- @needs parts/untag.lua
-- @gives endedIds, bits, endJob
endedIds, bits = {}, {}

-- `tags`: those of the job, a tab before each.
function endJob(id, tags)
  endedIds[#endedIds + 1] = id
  if tags ~= '' then untagJob(id, tags) end
end
