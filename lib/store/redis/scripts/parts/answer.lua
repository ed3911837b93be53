-- Ends a numbered call: the receipt of its caller keeps the result, in case the same call arrives again.
-- @takes receiptKey, callNumber, keepReceiptMs, result
redis.call('SET', receiptKey, callNumber .. ' ' .. result, 'PX', keepReceiptMs)
