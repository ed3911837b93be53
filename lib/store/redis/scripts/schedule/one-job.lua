-- What most calls schedule: one job with a made id, which prefers no worker and has neither group, tags, set, chain nor a late rule. Read phase.
-- `oneJob`: `id`, `envelope`, `due` and `dueText`, `lane`, its `versionedName` and `priority`; nil where the call is for the rest of schedule.lua.
-- `head`: the first job of the lane.
-- `mayBeFirst`: whether the job may become the first of its lane. Only then somebody may have to be woken for it, and an index changes: then
-- `levelHead` and `levelDue` are the first head of the level, and when the index says that the level is due.
-- @needs parts/clock.lua
-- @takes ARGV, base, rowsFrom, levelsKey
-- @gives oneJob, mayBeFirst, head, levelHead, levelDue
-- What the middle begins with where a job has neither flags nor tags.
local LINE_END = 10
local count, chosen, route, due, middle, id, ending, more = unpack(ARGV, rowsFrom, rowsFrom + 7)
local priority, versionedName = string.match(route or '', '^(%d+)::(.*)$')
if priority and count == '1' and chosen == '' and due ~= '' and not more and string.byte(middle) == LINE_END then
  local at = tonumber(due)
  if at <= 0 then at, due = now - at, digits(now - at) end
  oneJob = { id = id, envelope = route .. '\n' .. digits(now) .. ' ' .. middle .. ending, due = at, dueText = due, lane = route, versionedName = versionedName, priority = priority }
  head = redis.call('ZRANGE', base .. 'lane:' .. route, 0, 0, 'WITHSCORES')
  mayBeFirst = not head[1] or at <= tonumber(head[2])
  if mayBeFirst then
    levelHead = redis.call('ZRANGE', base .. 'heads:' .. priority, 0, 0, 'WITHSCORES')
    levelDue = redis.call('ZSCORE', levelsKey, priority)
  end
  -- Where the job is written again, or somebody has damaged the index of its lane, more may have to be mended than the head.
  local isOwnHead = head[1] and levelHead and levelHead[1] == head[1] .. '\t' .. route
  if head[1] == id or isOwnHead and levelHead[2] ~= head[2] then oneJob = nil end
end
