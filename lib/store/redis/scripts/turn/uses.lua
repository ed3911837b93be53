-- Whether the queue uses more than an ordinary turn knows. Each use has a key that is there as long as it lasts: `groups`, `runningOfGroups` and
-- `held` for groups, `levels:*` for preferred workers, `levels:!` for suspects, `gate` for a pause, blackouts or recurrences. Redis deletes an
-- emptied key, so the answer needs no upkeep.
-- `hasFailures`: where the queue uses no more, whether failures of jobs are kept. Mostly none are, and then one command answers both.
-- @takes base, failuresKey
-- @gives usesMore, hasFailures
local count = redis.call('EXISTS', base .. 'groups', base .. 'runningOfGroups', base .. 'held', base .. 'levels:*', base .. 'levels:!', base .. 'gate', failuresKey)
hasFailures = count == 1 and redis.call('EXISTS', failuresKey) == 1
usesMore = count > (hasFailures and 1 or 0)
