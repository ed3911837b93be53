-- What an ordinary turn that lists its session leaves to a whole one.
-- `handsOn`: '' where dead or completed jobs are to be dropped, or recurrences have lost their part in `gate` (see find-lost.lua); 'uses' where
-- so many ids are to be forgotten that several turns have to be whole; else nil.
-- @needs parts/clock.lua
-- @takes me, base, deadKey, usedIdsKey
-- @gives handsOn
-- @include turn/after/oldest.lua
local completedCount, completedAgeMs, deadCount, deadAgeMs = string.match(me.listing, '^(%d+) (%d+) (%d+) (%d+)\n')
local areDeadOver = oldest(deadKey, tonumber(deadCount), tonumber(deadAgeMs), 1)[1]
local areCompletedOver = oldest(base .. 'completed', tonumber(completedCount), tonumber(completedAgeMs), 1)[1]
if areDeadOver or areCompletedOver or redis.call('EXISTS', base .. 'timetable') == 1 then handsOn = '' end
if redis.call('ZCOUNT', usedIdsKey, '-inf', digits(now)) > FORGOTTEN_A_TURN then handsOn = 'uses' end
