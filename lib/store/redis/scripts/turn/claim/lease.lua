-- Puts the jobs that are handed out under leases, all with one fence.
-- `claimed`: three for each: id, due time and, unless it is the job's first claim, attempt and crashes, envelope. Filled by `handOut`.
-- @needs parts/clock.lua, parts/envelope-tags.lua, parts/claim-text.lua, parts/lanes.lua
-- @takes settings, me, fit, grouping, fence, unconfirmed, UNCLAIMED, activeKey, claimsKey, statsKey, fenceKey, claimed
-- @changes handOut
function handOut()
  local leases, held, session = {}, {}, me.session
  local fenceText, leaseUntil = digits(fence) .. unconfirmed, digits(now + settings.leaseMs)
  local due, front, text
  for i = 1, #fit do
    local job = fit[i]
    local id, claim, tags = job.id, job.claim, tagsOf(job.envelope)
    leases[2 * i - 1], leases[2 * i] = leaseUntil, id
    claimed[3 * i - 2], claimed[3 * i] = id, job.envelope
    local group = grouping and job.front.group
    if group then
      ofGroups.running[group .. '\t' .. id] = true
      if grouping.stateOf(group).isFifo then ofGroups.holders[group] = id end
    end
    if claim ~= UNCLAIMED then
      local attempt, crashes = tostring(claim.attempt + 1), tostring(claim.crashes)
      claimed[3 * i - 1] = job.dueText .. ' ' .. attempt .. ' ' .. crashes
      held[2 * i - 1], held[2 * i] = id, formatClaim(fenceText, attempt, crashes, job.dueText, session, job.front.lane, tags)
    else
      -- Many of one burst have the same.
      if job.dueText ~= due or job.front ~= front then
        due, front = job.dueText, job.front
        text = formatClaim(fenceText, '1', '0', due, session, front.lane, '')
      end
      claimed[3 * i - 1] = due
      held[2 * i - 1], held[2 * i] = id, text .. tags
    end
  end
  local startedCount = #fit
  -- @include turn/claim/write-leases.lua
end
