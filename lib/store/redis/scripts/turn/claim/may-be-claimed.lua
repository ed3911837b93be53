-- Whether one of the jobs that a turn picks may have been claimed before. Each running and each dead job has a claim; where there are no more claims,
-- no waiting job has one. To ask that takes as long as to read the claims of three jobs.
-- `count`: how many jobs.
-- @takes count, claimsKey, activeKey, deadKey
-- @gives mayBeClaimed
mayBeClaimed = count <= 3 or redis.call('HLEN', claimsKey) > redis.call('ZCARD', activeKey) + redis.call('ZCARD', deadKey)
