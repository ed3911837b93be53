-- How many jobs may run at once over all processes: unexpired leases are counted, less those that this turn ends, and less the places
-- that are kept for others (see turn/claim/read-offers.lua). A relay runs nothing, and so needs no place.
-- @takes limit, globalConcurrency, offers
-- @changes mayPass, opensAt
if limit > 0 and globalConcurrency > 0 then
  mayPass, opensAt = math.max(0, globalConcurrency - offers.running - offers.held), offers.ends
end
