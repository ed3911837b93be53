-- What is left of the handlers' own limits in this turn.
-- @takes handlers
-- @gives isFull, giveBack

-- Whether the handler of a name can run no more here.
function isFull(name)
  local handler = handlers and handlers[name]
  return handler and handler.free <= 0
end

-- Of a job that was picked and is not claimed.
function giveBack(job)
  local handler = handlers and handlers[job.front.name]
  if handler then handler.free = handler.free + 1 end
end
