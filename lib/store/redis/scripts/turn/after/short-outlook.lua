-- Begins the outlook (turn/after/outlook.lua) of a turn that decides little: all but a few fields stay as they are here. Each is named, so that Lua makes
-- the table as large as it becomes.
-- @takes me
-- @gives outlook
outlook = { limitAfter = me.limit, stopsLooking = false, hears = me.canHear, sleepUntil = false, stopsSleeping = false, fills = false, isSleeper = false, isOffSleepers = false, looksAgain = false, looksOn = false, toWake = nil, lookAt = nil, handOverAt = nil }
