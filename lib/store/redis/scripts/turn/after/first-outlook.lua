-- Begins the outlook of ordinary.lua and in-order.lua with what holds unless a later part says otherwise. turn/after/outlook.lua tells what its fields
-- mean. All fields are named, so that Lua makes the table as large as it becomes.
-- @takes me
-- @gives outlook
outlook = { limitAfter = me.limit, stopsLooking = false, hears = me.canHear, sleepUntil = false, stopsSleeping = false, fills = false, isSleeper = false, isOffSleepers = false, looksAgain = false, looksOn = false, toWake = nil, lookAt = nil, handOverAt = nil }
