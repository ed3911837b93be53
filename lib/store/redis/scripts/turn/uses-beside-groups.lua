-- Whether the queue uses more than in-order.lua knows: that takes groups whose jobs run in order, without settings and pauses of their own.
-- Each key that turn/uses.lua counts as a use stands here too, but for the three of groups: in-order.lua would overlook a use that is missing here.
-- @takes base
-- @gives usesBesideGroups
usesBesideGroups = redis.call('EXISTS', base .. 'groupSettings', base .. 'groupPauses', base .. 'levels:*', base .. 'levels:!', base .. 'gate') > 0
