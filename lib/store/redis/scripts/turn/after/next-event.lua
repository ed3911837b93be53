-- `nextEvent`: when there is something to claim again, for a session like this one, whoever of its crew looks; and for this worker alone,
-- of the jobs that prefer it: nil where none prefers anybody.
-- @needs parts/clock.lua, parts/envelope.lua, parts/lanes.lua
-- @takes settings, me, opening, outlook, fit, base, levelsKey, preferredIndex, suspectIndex, ownWorker, isHere, grouping
-- @changes nextEvent
local function earliestOf(index)
  return index.count > 0 and tonumber(redis.call('ZRANGE', index.key, 0, 0, 'WITHSCORES')[2]) or math.huge
end
-- Jobs without a group that prefer nobody: the index of which each turn asks.
local common = { key = levelsKey, count = 1 }

-- Due lanes that were passed over stand first in their level, so the next due time is looked for behind them.
local function nextDue(ending)
  local index = ending == COMMON and common or openIndex(ending)
  local first = earliestOf(index)
  if first > now then return first end
  local indexKey = index.key
  -- @include turn/after/behind-due.lua
  return earliestBehind
end

-- A job of a group that was queued behind a run may be the first one of a group.
local usesGroups = grouping or ofGroups

function nextEvent()
  local nextJobAt, nextOwnJobAt
  local isGateShut = opening.mayPass <= #fit
  if isGateShut or me.limit == 0 then
    nextJobAt = math.min(earliestOf(common), earliestOf(preferredIndex), earliestOf(suspectIndex))
    if usesGroups then nextJobAt = math.min(nextJobAt, earliestOf(openIndex(GROUPED)), grouping and grouping.nextFreeAt or math.huge) end
    -- Whatever is due waits for the gate. Without a limit this turn has not looked: what became due meanwhile may still be there.
    if isGateShut then nextJobAt = math.max(opening.opensAt, nextJobAt) end
  else
    nextJobAt = nextDue(COMMON)
    if preferredIndex.count > 0 then
      -- How many heads of jobs that prefer others are looked at for the first one that may be stolen.
      local STEALS_LOOKED_AT = 16
      -- When the first job of a level that prefers another worker may be stolen.
      local function nextSteal(priority)
        local earliest, from = math.huge, '(' .. digits(now - settings.stealAfterMs)
        local heads = redis.call('ZRANGE', base .. 'heads:' .. priority .. PREFERRED, from, '+inf', 'BYSCORE', 'LIMIT', 0, STEALS_LOOKED_AT, 'WITHSCORES')
        for i = 1, #heads, 2 do
          local due, preferred = tonumber(heads[i + 1]), preferredOf(string.match(heads[i], '\t(.*)$'))
          local at = isHere(preferred) and due + settings.stealAfterMs or due
          if preferred ~= ownWorker and at > now then earliest = math.min(earliest, at) end
        end
        return earliest
      end
      for _, priority in ipairs(redis.call('ZRANGE', preferredIndex.key, 0, -1)) do nextJobAt = math.min(nextJobAt, nextSteal(priority)) end
    end
    if suspectIndex.count > 0 then nextJobAt = math.min(nextJobAt, nextDue(SUSPECTS)) end
    if usesGroups then nextJobAt = math.min(nextJobAt, nextDue(GROUPED), grouping and grouping.nextFreeAt or math.huge) end
  end

  -- Where jobs that prefer this worker wait for a gate that opens at a known time, this one looks half a second after it: one of all
  -- sleepers looks when it opens, and may leave room. Else whoever opens the gate tells the workers whose jobs are due.
  if preferredIndex.count > 0 and outlook.limitAfter > 0 then
    local own = ':' .. ownWorker
    if not isGateShut or opening.opensAt == math.huge then
      nextOwnJobAt = nextDue(own)
    else
      local first = earliestOf(openIndex(own))
      nextOwnJobAt = first > opening.opensAt and first or opening.opensAt + DEPUTY_MS
    end
  end
  return nextJobAt, nextOwnJobAt
end
