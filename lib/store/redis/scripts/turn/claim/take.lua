-- Picks jobs from sources (see turn/claim/source.lua), as many as this session has capacity for and as may pass.
-- `picked`: the jobs, in their order. `stopped`: why no more of the due jobs: 'limit' of this session, 'gate', or 'size' of the turn.
-- `fullNames`: names that were passed over because their handlers are full here, name -> true.
-- @takes me, mayPass, base, handlesKey, handlers, isFull, ownWorker, stealsBy, picked, passedOver, fullNames
-- @gives after, openSource, bestOf, readFirst, advance, seesUnhandled, isPassedOver, takeOne, take
-- @changes stopped
local limitLeft, pickedCount = me.limit, 0
-- Jobs of one call weigh what one of them does, so the limit does not bound how many they are.
local most = math.max(me.limit, MOST_JOBS)

-- Whether a lane of this name is passed over because its handler is full here.
function isPassedOver(name, kind)
  if not isFull(name) then return false end
  -- Others may not take this worker's own jobs, and look by themselves when they may.
  if kind ~= 'o' then fullNames[name] = true end
  return true
end

-- @include turn/claim/source.lua
-- Picks the best job of a source, or says what it does not fit into. The best one is not passed over for a lighter one that
-- comes after it: it would wait for ever.
function takeOne(source, front, handler)
  local weight = 1
  if handler then weight = handler.free % handler.size == 0 and handler.weight or 0 end
  if weight > limitLeft then
    stopped = 'limit'
    return false
  end
  if pickedCount >= mayPass then
    stopped = 'gate'
    return false
  end
  if pickedCount >= most then
    stopped = 'size'
    return false
  end
  limitLeft = limitLeft - weight
  if handler then handler.free = handler.free - 1 end
  pickedCount = pickedCount + 1
  picked[pickedCount] = { id = front.id, due = front.due, dueText = front.dueText, front = front, weight = weight, envelope = false, claim = false }
  return true
end

-- Picks from a source's best lane as long as it is that, or once.
function take(source, front, once)
  -- What a level's best job was may have been decided before another level's filled its handler.
  if isPassedOver(front.name, source.kind) then return end
  local handler = handlers and handlers[front.name]
  local other = source.fronts[source.first + 1]
  local isAlone = source.exhausted and not other
  repeat
    if not takeOne(source, front, handler) then return end
    if not advance(front, isAlone and math.min(handler and handler.free or limitLeft, mayPass, most) + 1 or FIRST_READ) then
      source.first = source.first + 1
      return
    end
    local isBest = isAlone or other and not after(front, other) and (source.exhausted or not after(front, source.last))
  until once or not isBest or (handler and handler.free <= 0)
  if other and after(front, other) then
    source.first = source.first + 1
    insert(source, front)
  end
end
