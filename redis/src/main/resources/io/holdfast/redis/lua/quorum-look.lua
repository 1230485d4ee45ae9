-- Returns the server's standing. Loaded without quorum-common.lua.
--
-- KEYS    birth
-- Result  {birth, quarantine}

local clock = redis.call('TIME')
local birth = redis.call('GET', KEYS[1]) or ''
local from = tonumber(string.match(birth, ':(%d+)$')) or 0
return {birth, math.max(0, from - clock[1] * 1000 - math.floor(clock[2] / 1000))}
