-- Whether the queue uses more than an ordinary turn knows. Each use has a key that is there as long as it lasts: `groups`, `runningOfGroups` and
-- `held` for groups, `levels:*` for preferred workers, `levels:!` for suspects, `gate` for a pause, blackouts or recurrences. Redis deletes an
-- emptied key, so the answer needs no upkeep.
-- @takes base
-- @gives usesMore
usesMore = redis.call('EXISTS', base .. 'groups', base .. 'runningOfGroups', base .. 'held', base .. 'levels:*', base .. 'levels:!', base .. 'gate') > 0
