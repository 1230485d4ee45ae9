-- Returns the server's standing. Loaded with clock.lua alone.
--
-- KEYS    birth
-- Result  {birth, quarantine}

local birth = redis.call('GET', KEYS[1]) or ''
local from = tonumber(string.match(birth, ':(%d+)$')) or 0
return {birth, math.max(0, from - now)}
