-- Makes `ofGroups` (see parts/lanes.lua) where it is nil still, so that a script that meets no group makes and writes nothing.
-- @changes ofGroups
ofGroups = ofGroups or { there = {}, running = {}, held = {}, holders = {}, resumed = {}, turnsEnded = {}, forgotten = {}, seesPart = false }
