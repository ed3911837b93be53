-- Where a waiting job lies: its lane, and its due time as text; nil where the job does not wait. A suspect does not lie in the lane
-- that its envelope names, but in the suspects' lane of the same priority and name.
-- @needs parts/envelope.lua
-- @takes base
-- @gives findWaiting
function findWaiting(id, envelope)
  local lane = laneOf(envelope)
  local due = redis.call('ZSCORE', base .. 'lane:' .. lane, id)
  if due then return lane, due end
  lane = suspectLane(lane)
  due = redis.call('ZSCORE', base .. 'lane:' .. lane, id)
  if due then return lane, due end
end
