-- How many jobs may run at once over all processes: unexpired leases are counted, less those that this turn ends, and less the places
-- that are kept for others (see turn/claim/read-offers.lua). A relay runs nothing, and so needs no place.
-- @takes settings, me, opening, offers
if me.limit > 0 and settings.globalConcurrency > 0 then
  opening.mayPass, opening.opensAt = math.max(0, settings.globalConcurrency - offers.running - offers.held), offers.ends
end
