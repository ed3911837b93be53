-- The gate: what keeps due jobs from being claimed though a session has capacity for them. Each file of this folder is a gate. A gate
-- narrows one number, how many jobs may be claimed over all processes now, and says when more may; the gates after it find these
-- numbers narrowed. docs/architecture.md says where a new gate has to be known.
-- A turn that claims nothing (`me.limit` 0) asks none of them.
-- `opening`:
--   mayPass  how many may be claimed now
--   opensAt  when more may (epoch ms); math.huge where nobody knows, and whoever makes room wakes a sleeper
--   isShut   nothing passes for a time, so it helps nobody to wait for a place under `globalConcurrency`
-- @gives opening
opening = { mayPass = math.huge, opensAt = math.huge, isShut = false }
