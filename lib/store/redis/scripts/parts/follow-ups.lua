-- A follow-up is a job that a script schedules because another one has ended: the next step of a chain, or the completion job of a set.
-- `set:<id>`, of a set that is not done, holds `state` ('o' open, 'c' closed), `openedAt`, how many members have ended how, `keepMs`, how long it is
-- remembered once it is done, and `job`, what schedules its completion job: id, delay (ms), route, flags and tags, third line of the envelope, each
-- in a line of its own, and the payload; '' for none. Its pending members are the fields of `members:<id>` (see parts/tag.lua), so the total needs no
-- count. `sets` lists these sets by when they were opened. A set that is done keeps its numbers in `doneSets`, and `setsToForget` says until when.
-- Read phase, after the last `untagJob` that tells how a job ends. `writeFollowUps` is to be called before lanes are closed.
-- `steps`: the next steps, nil for none: `after`, id of the job that has completed, `id`, `delayMs`, `route`, and `rest`, the envelope from its flags on.
-- `completions`: three for each completion job: id, name, when it is due.
-- @needs parts/clock.lua, parts/untag.lua, parts/enter.lua, parts/envelope.lua, parts/lanes.lua, parts/route.lua, parts/tag.lua
-- @takes base, steps, jobsKey, statsKey
-- @changes writeFollowUps, completions
-- How many sets that are over are forgotten for each one that is done, so that their number falls.
local FORGOTTEN_A_SET = 10
local fields, endings, stepAfter = {}, {}, {}

-- Answers when it is due.
local function followUp(id, delayMs, route, rest)
  local due, tags = digits(now + delayMs), tagsOfFlags(rest)
  addToLane(enterLane(laneOfRoute(route)), id, now + delayMs)
  -- Its set is entered below, if the job that it follows was counted there.
  if tags ~= '' then tagJob(id, (string.gsub(tags, '\t\31[^\t]*', ''))) end
  fields[#fields + 1] = id
  fields[#fields + 1] = route .. '\n' .. digits(now) .. ' ' .. rest
  return due
end

for _, step in ipairs(steps or {}) do
  followUp(step.id, step.delayMs, step.route, step.rest)
  stepAfter[step.after] = step.id
end

local function complete(id, record, counts, total)
  local jobId, delayMs, route, beginning, payload = string.match(record[8], '^([^\n]*)\n(%d+)\n([^\n]*)\n([^\n]*\n[^\n]*)\n(.*)$')
  local numbers = digits(total) .. ' ' .. table.concat(counts, ' ')
  if jobId then
    local due = followUp(jobId, tonumber(delayMs), route, beginning .. ' ' .. numbers .. '\n' .. payload)
    for _, field in ipairs({ jobId, nameOf(laneOfRoute(route)), due }) do completions[#completions + 1] = field end
  end
  -- Keys of another type stop the script here, before any write.
  redis.call('ZCARD', base .. 'sets')
  redis.call('HLEN', base .. 'doneSets')
  redis.call('ZCARD', base .. 'setsToForget')
  return record[3] .. ' ' .. numbers
end

local HOWS = { 'completed', 'dead', 'discarded', 'cancelled' }
for _, set in ipairs(leftSets or {}) do
  local id = string.sub(set.name, 2)
  local record = redis.call('HMGET', base .. 'set:' .. id, 'state', 'keepMs', 'openedAt', 'completed', 'dead', 'discarded', 'cancelled', 'job')
  -- A member of a set that is done, which was dead then, runs without being counted.
  if record[1] then
    local pending, by = redis.call('HLEN', set.key), {}
    local there = set.removed[1] and redis.call('HMGET', set.key, unpack(set.removed)) or {}
    for i, member in ipairs(set.removed) do
      local next = stepAfter[member]
      stepAfter[member] = nil
      if there[i] then
        by[set.hows[i]] = (by[set.hows[i]] or 0) + 1
        pending = pending - 1
        if next then
          tagJob(next, set.name)
          pending = pending + 1
        end
      end
    end
    local ending = { id = id, key = base .. 'set:' .. id, by = by, isClosing = set.isClosing, keepMs = tonumber(record[2]), numbers = nil }
    if pending == 0 and (record[1] == 'c' or set.isClosing) then
      local counts, total = {}, 0
      for i, how in ipairs(HOWS) do
        local count = tonumber(record[3 + i] or 0) + (by[how] or 0)
        counts[i], total = digits(count), total + count
      end
      completions = completions or {}
      ending.numbers = complete(id, record, counts, total)
    end
    endings[#endings + 1] = ending
  end
end

-- A run whose place a queued job takes as the same member has not left its set, and its next step enters all the same.
for _, step in ipairs(steps or {}) do
  local set = stepAfter[step.after] and string.find(step.rest, '\31', 1, true) and string.match(tagsOfFlags(step.rest), '\t(\31[^\t]*)')
  if set and redis.call('HEXISTS', base .. 'members:' .. string.sub(set, 2), step.after) == 1 then tagJob(step.id, set) end
end

local function remember(ending)
  redis.call('UNLINK', ending.key)
  redis.call('ZREM', base .. 'sets', ending.id)
  if ending.keepMs == 0 then return end
  redis.call('HSET', base .. 'doneSets', ending.id, ending.numbers)
  redis.call('ZADD', base .. 'setsToForget', digits(now + ending.keepMs), ending.id)
  local over = redis.call('ZRANGE', base .. 'setsToForget', '-inf', digits(now), 'BYSCORE', 'LIMIT', 0, FORGOTTEN_A_SET)
  if over[1] then
    redis.call('HDEL', base .. 'doneSets', unpack(over))
    redis.call('ZREM', base .. 'setsToForget', unpack(over))
  end
  -- Where no other set is ever done, both keys go by themselves, with the last one that they hold.
  local last = redis.call('ZRANGE', base .. 'setsToForget', 0, 0, 'REV', 'WITHSCORES')
  redis.call('PEXPIRE', base .. 'doneSets', math.max(1, last[2] - now))
  redis.call('PEXPIRE', base .. 'setsToForget', math.max(1, last[2] - now))
end

function writeFollowUps()
  for _, ending in ipairs(endings) do
    if ending.numbers then
      remember(ending)
    else
      for how, count in pairs(ending.by) do redis.call('HINCRBY', ending.key, how, count) end
      if ending.isClosing then redis.call('HSET', ending.key, 'state', 'c') end
    end
  end
  if not fields[1] then return end
  redis.call('HSET', jobsKey, unpack(fields))
  redis.call('HINCRBY', statsKey, 'scheduled', #fields / 2)
  writeTagged()
end
