-- Whether the queue uses more than in-order.lua knows: that takes groups whose jobs run in order, without settings and pauses of their own. See turn/uses.lua.
-- @takes base
-- @gives usesBesideGroups
usesBesideGroups = redis.call('EXISTS', base .. 'groupSettings', base .. 'groupPauses', base .. 'levels:*', base .. 'levels:!', base .. 'gate') > 0
