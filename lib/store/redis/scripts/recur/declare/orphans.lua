-- Which recurrences of an app are orphans: no live process declares them any more, whatever their rule.
-- @needs parts/clock.lua, recur/forget.lua, recur/declare/owner.lua, recur/read.lua
-- @takes base, app, orphanAfterMs
-- @gives mayTellOrphans, isOrphan, forgetDeclared, findOrphans

-- The members of `declared` with scores in a range, of this app alone, by id.
local function declaredBetween(from, to)
  local ids, members = {}, {}
  for _, member in ipairs(redis.call('ZRANGE', base .. 'declared', from, to, 'BYSCORE')) do
    local byApp, id = string.match(member, '^([^\t]*)\t([^\t]*)\t')
    if byApp == app then
      if not members[id] then ids[#ids + 1], members[id] = id, {} end
      table.insert(members[id], member)
    end
  end
  return ids, members
end

local function aliveFrom()
  return digits(now - orphanAfterMs)
end

-- By id, the members of live processes of this app.
local function membersAlive()
  local _, members = declaredBetween(aliveFrom(), '+inf')
  return members
end

-- Whether processes of this app have been heard long enough to tell what none of them declares.
function mayTellOrphans()
  return heardSince(app) <= now - orphanAfterMs
end

function isOrphan(entry)
  local owner = entry.rule and ownerOf(entry)
  return owner and owner.app == app and mayTellOrphans() and not membersAlive()[entry.id]
end

-- Notes that nobody has declared it.
function forgetDeclared(id)
  local _, members = declaredBetween('-inf', '+inf')
  if members[id] then redis.call('ZREM', base .. 'declared', unpack(members[id])) end
end

-- Whether one that is over would begin anew, should somebody declare it after it was forgotten: its state tells how many of a limit have
-- begun. Of one that is switched off only the next declaration tells whether it has a limit.
local function wouldBeginAnew(entry)
  local state = entry.state
  return state and state.count > 0 and (state.state == 'o' or state.state == 'e' and entry.rule.limit > 0)
end

-- The orphans: all, or those that nobody has been told. Of those that are switched off or have ended, the ones that would begin anew count
-- only among all: they are harmless unless somebody removes them. The others of these are forgotten, as is what is outdated of this app.
function findOrphans(isAll)
  local orphans = {}
  local ids, members = declaredBetween(isAll and '-inf' or '0', '(' .. aliveFrom())
  if not ids[1] then return orphans end
  local alive = membersAlive()
  local over = {}
  for i, entry in ipairs(readEntries(ids)) do
    local id = ids[i]
    local owner = not alive[id] and entry.rule and ownerOf(entry)
    local isOurs = owner and owner.app == app
    local state = entry.state and entry.state.state
    local isLive = state == 'a' or state == 'p'
    if isOurs and (isLive or wouldBeginAnew(entry)) then
      if isLive or isAll then orphans[#orphans + 1] = id end
      for _, member in ipairs(members[id]) do redis.call('ZADD', base .. 'declared', digits(-now), member) end
    else
      if isOurs then over[#over + 1] = id end
      redis.call('ZREM', base .. 'declared', unpack(members[id]))
    end
  end
  forget(over)
  return orphans
end
