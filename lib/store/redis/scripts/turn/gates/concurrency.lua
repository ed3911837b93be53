-- How many jobs may run at once over all processes: leases are counted, less those that this turn ends. A relay runs nothing, and so needs
-- no place; but what it recovers leaves one.
-- `places`: nil in a queue without that limit, else `left`, how many more jobs may run, `wasFull`, whether none more could before this turn,
-- and `leaving`, how many leases this turn ends.
-- @takes settings, me, decided, opening, isClaiming, activeKey
-- @gives places
if settings.globalConcurrency > 0 then
  local before = redis.call('ZCARD', activeKey)
  -- A dead job that was recovered stands among the settlements.
  local leaving = #decided.endedIds + #decided.settlements + #decided.returning
  places = { left = math.max(0, settings.globalConcurrency - before + leaving), wasFull = before >= settings.globalConcurrency, leaving = leaving }
  if isClaiming and me.limit > 0 then opening.mayPass = places.left end
end
