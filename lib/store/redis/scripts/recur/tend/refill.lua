-- refill: give recurrences the next instants that a process has reckoned, and arm those that waited for them.
-- @numbered
-- @keys jobs, usedIds, stats, completed, results, levels, sleeping, queued
-- @given clustered, settings.stealAfterMs
-- @arg zones text: the version of the time-zone data by which they were reckoned
-- @arg reckonedAt epoch ms: when, by this Redis' clock
-- @given settings.keepEnded
-- @tail rows id, version, how, from, skipped, list: what `tend` has told; how many instants before the first of the list are left out, all of them missed; the list
-- @returns ...short text[]: ids whose instants run short still
-- @repeat it tells none.
-- @needs parts/clock.lua
-- @include parts/begin.lua
if earlierAnswer then return { 'replayed', digits(now) } end
-- @needs recur/read.lua, recur/next.lua, recur/tend/zones.lua
local counted = {}
-- @needs recur/arm.lua, recur/disarm.lua
-- Whether nothing has changed since these instants were asked for.
local function isMeant(entry, version, how, from, skipped)
  local rule, state = entry.rule, entry.state
  if not rule or not state or state.state ~= 'a' or rule.version ~= version or skipped > 0 and reckonedAt > now then return false end
  local last = digits(how == 'more' and lastKnown(state.list) or state.reached)
  -- Behind a whole list nothing is to be added. But newer time-zone data may move all of it.
  return last == from and (how == 'zones' or string.sub(state.list, -1) ~= '.')
end

local ids, at = {}, rowsFrom
while ARGV[at] do
  ids[#ids + 1] = ARGV[at]
  at = at + 6
end
for i, entry in ipairs(readEntries(ids)) do
  local row = rowsFrom + 6 * (i - 1)
  local how, skipped, list = ARGV[row + 2], tonumber(ARGV[row + 4]), ARGV[row + 5]
  if isMeant(entry, ARGV[row + 1], how, ARGV[row + 3], skipped) then
    local state = entry.state
    noteChanged(entry)
    if how == 'more' then
      state.list = state.list == '' and list or list == '' and state.list or state.list .. ' ' .. list
      -- So that whoever has the newer data reckons them again.
      if isNewer(state.zones, zones) then state.zones = zones end
      if skipped > 0 then counted.scheduled, counted.discarded = (counted.scheduled or 0) + skipped, (counted.discarded or 0) + skipped end
      if state.armed == 0 then armNext(entry) end
    else
      state.list, state.zones = list, zones
      -- The armed one stays where the newer data has its instant as well.
      if state.armed == 0 or not string.find(' ' .. list, ' ' .. digits(state.armed), 1, true) then
        disarm(entry)
        armNext(entry)
      end
    end
  end
end
resolveArmed()
resolveDisarmed()
if changedEntries[1] then
  -- @include recur/write.lua
end
local result = ''
-- @include parts/answer.lua
-- @include parts/wake/lanes.lua
return { 'done', digits(now), unpack(shortIds) }
