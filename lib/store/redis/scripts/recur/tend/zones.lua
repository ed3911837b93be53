-- Compares versions of time-zone data, such as '2025b'; 'none' of a process that has none.
-- @gives isNewer
function isNewer(zones, than)
  return zones ~= 'none' and than ~= 'none' and zones > than
end
