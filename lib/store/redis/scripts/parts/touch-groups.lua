-- Makes `ofGroups` (see parts/lanes.lua): a script that has nothing to do with groups makes none.
-- @changes ofGroups
ofGroups = ofGroups or { there = {}, running = {}, held = {}, holders = {}, resumed = {}, turnsEnded = {}, forgotten = {}, seesPart = false }
