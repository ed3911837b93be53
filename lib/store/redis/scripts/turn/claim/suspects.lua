-- Suspects: jobs with one crash left. They run alone, with nothing else in their process, so that a job which kills its process does
-- not take others with it. Ordinary claims never see their lanes. A process that finds a due suspect reserves itself in `reservations`,
-- claims nothing more, and claims the suspect once it holds nothing else. One that holds nothing claims it at once, as long as another
-- process that is here has no suspect: that one is free for ordinary jobs. The reservation of a process that has died runs out.
-- `wish` ('' of a process that may not seek a suspect now):
--   reserve  the process holds jobs, and may reserve itself
--   take     the process holds nothing, and may claim a suspect at once
--   keep     the process is reserved, and holds other jobs, or the suspect itself
--   claim    the process is reserved, and holds nothing
--   leave    the reservation is given up
-- `suspect`: the outcome: 'reserved', 'taken', or '' where the process is not reserved.
-- `awaited`: whether the suspect lacks only a place under `globalConcurrency`: then others leave the next place (see yield.lua).
-- @needs parts/clock.lua, parts/envelope.lua, parts/lanes.lua, parts/wake/handles.lua
-- @takes settings, me, opening, wish, base, reservationsKey, ownWorker, handlers, suspectIndex, isHere, processesHere, picked, grouping
-- @gives suspect, awaited
suspect = wish == 'keep' and 'reserved' or ''
if me.limit > 0 and suspectIndex.count > 0 and wish ~= '' and wish ~= 'keep' and wish ~= 'leave' then
  -- How many levels, and how many lanes of each, are looked through for a suspect that this session handles.
  local LEVELS_LOOKED_AT, HEADS_LOOKED_AT = 10, 100

  -- The due suspect to run first, and how many are due in the lanes that are looked through. Only reads.
  local function findSuspect()
    local priorities = redis.call('ZRANGE', suspectIndex.key, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, LEVELS_LOOKED_AT)
    table.sort(priorities, function(a, b) return tonumber(a) < tonumber(b) end)
    local first, due = nil, 0
    for _, priority in ipairs(priorities) do
      local heads = redis.call('ZRANGE', base .. 'heads:' .. priority .. SUSPECTS, '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, HEADS_LOOKED_AT, 'WITHSCORES')
      for i = 1, #heads, 2 do
        local id, lane = string.match(heads[i], '^([^\t]*)\t(.*)$')
        local name = nameOf(lane)
        local handler = handlers and handlers[name]
        local group = groupOf(lane)
        local state = group and grouping and grouping.stateOf(group)
        if state and state.free == 0 and ofGroups.held[group] == nil and not redis.call('ZSCORE', base .. 'held', group) then
          -- Held, so that whoever frees the group wakes somebody for this suspect too.
          ofGroups.held[group], grouping.nextFreeAt = state.opensAt, math.min(grouping.nextFreeAt, state.opensAt)
          grouping.ofSuspects[#grouping.ofSuspects + 1] = group
        end
        local mayStart = not state or (state.free > 0 and (not state.only or state.only.id == id))
        if mayStart and (not handler or handler.free > 0) and handledAmong(me.crew, { versionedNameOf(lane) })[1] == 1 then
          due = due + redis.call('ZCOUNT', base .. 'lane:' .. lane, '-inf', digits(now))
          first = first or { group = group, id = id, due = tonumber(heads[i + 1]), dueText = heads[i + 1], lane = lane, name = name }
        end
      end
    end
    return first, due
  end

  -- Whether this process may be held up by a suspect beside those that are reserved already. `due`: how many suspects are due. A
  -- reservation that ends later than a lease from now is of a clock that went back.
  local function isAllowed(due)
    local here, others = processesHere(), 0
    local free = isHere(ownWorker) and here - 1 or here
    for _, process in ipairs(redis.call('ZRANGE', reservationsKey, '(' .. digits(now), digits(now + settings.leaseMs), 'BYSCORE')) do
      if process ~= ownWorker then
        others = others + 1
        if isHere(process) then free = free - 1 end
      end
    end
    -- An empty process gives up nothing for a suspect that it runs at once, so it needs only another one that is free for other jobs. But
    -- it waits for a place under `globalConcurrency` as part of the bound: else all places that are left would be kept for suspects.
    if free > 0 and (wish == 'claim' or (wish == 'take' and opening.mayPass > 0)) then return true end
    return others < math.min(due, math.max(1, math.floor(here / PROCESSES_A_SUSPECT)))
  end

  -- No process reserves itself during a pause or while the rate is used up. It does while `globalConcurrency` is used up: or a backlog
  -- that fills all places would keep suspects waiting for ever.
  if not opening.isShut then
    local found, due = findSuspect()
    if found and isAllowed(due) then
      suspect = 'reserved'
      if wish ~= 'reserve' and opening.mayPass == 0 then
        awaited = true
      elseif wish ~= 'reserve' then
        suspect = 'taken'
        -- It takes all the capacity there is.
        local front = { lane = found.lane, head = { found.id, found.dueText }, name = found.name, group = found.group }
        picked[1] = { id = found.id, due = found.due, dueText = found.dueText, front = front, weight = me.limit, envelope = false, claim = false }
        if handlers and handlers[found.name] then handlers[found.name].free = handlers[found.name].free - 1 end
      end
    end
  end
end
