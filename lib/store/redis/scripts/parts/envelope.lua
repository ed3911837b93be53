-- What the scripts read of an envelope (see envelope.ts). Its first line, the route, is "<lane>" or "<late rule> <lane>"; its second
-- line is "<created> <flags>" and the tags, a tab before each. A lane is "<priority>:<worker>:<name>", or with '@' and a group for the worker, so the first byte of an
-- envelope tells whether a late rule comes before the lane: 'r' run, 'd' discard or 'x' dead-letter a job that is claimed more than
-- so many ms after its due time.
-- A versioned name is the name part of a lane: a job name and, of a version above 1, '\31' and the version. Lanes, the turns of groups and what
-- crews handle go by versioned names; all else goes by names.
-- @gives laneOf, nameOf, versionedNameOf, preferredOf, groupOf, suspectLane, hasFlag
-- The lane that an envelope names; '' where somebody has damaged the envelope.
function laneOf(envelope)
  return string.match(envelope, '^(%d+:[^:\n]*:[^\n]*)\n') or string.match(envelope, '^%l%d+ (%d+:[^:\n]*:[^\n]*)\n') or ''
end

-- The name of a lane's jobs, whatever their version.
function nameOf(lane)
  return string.match(lane, '^%d+:[^:]*:([^\31]*)')
end

function versionedNameOf(lane)
  return string.match(lane, '^%d+:[^:]*:(.*)$')
end

-- The worker that a lane's jobs prefer, '' for none. The lanes of suspects have a '!' there, those of groups an '@'; both prefer none.
function preferredOf(lane)
  return string.match(lane, '^%d+:([^:!@]*):') or ''
end

-- The group of a lane, as codec/group-text.ts writes it; nil for none.
function groupOf(lane)
  return string.match(lane, '^%d+:!?@([^:]*):')
end

-- The lane in which a job of this lane lies as a suspect. It keeps its group, and no preferred worker.
function suspectLane(lane)
  local priority, kind, rest = string.match(lane, '^(%d+:)([!@]?)([^:]*:.*)$')
  if not priority or kind == '!' then return lane end
  return priority .. (kind == '@' and '!@' .. rest or '!' .. string.match(rest, ':.*$'))
end

-- 'c': the caller chose the id; 'o': it is an occurrence of a recurrence; 'm': and one that was missed and is made up for; 'w': it is of a row
-- with a longest wait (see schedule/when.lua).
function hasFlag(envelope, flag)
  return string.find(envelope, '^[^\n]*\n%d+ %l*' .. flag) ~= nil
end
