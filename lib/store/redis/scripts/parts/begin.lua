-- Begins a numbered call. A caller has one call in flight, and its receipt holds the number and the answer of its last call.
-- `earlierAnswer`: see parts/begun.lua.
-- @takes receiptKey, callNumber, deadline
-- @gives earlierAnswer
local receipt = redis.call('GET', receiptKey)
-- @include parts/begun.lua
