-- Whether the queue uses more than an ordinary turn knows: groups, preferred workers, suspects, a pause, blackouts, recurrences. Each has a key
-- that is there as long as the use lasts, so nobody has to keep a record of uses, and none can be wrong.
-- @takes base
-- @gives usesMore
usesMore = redis.call('EXISTS', base .. 'groups', base .. 'runningOfGroups', base .. 'held', base .. 'levels:*', base .. 'levels:!', base .. 'gate') > 0
