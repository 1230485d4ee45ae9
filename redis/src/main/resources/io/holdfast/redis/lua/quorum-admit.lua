-- Gives a member its birth, unless it has one of the present run of the server. Loaded with clock.lua alone.
--
-- KEYS    birth
-- ARGV    the server's run id; a new uuid; for how many ms the server must not vote
-- Result  {birth, quarantine}, of this run or an earlier one

local birth = redis.call('GET', KEYS[1]) or ''
if string.match(birth, '^[^:]*:([^:]*):') ~= ARGV[1] then
  birth = ARGV[2] .. ':' .. ARGV[1] .. ':' .. string.format('%.0f', now + tonumber(ARGV[3]))
  redis.call('SET', KEYS[1], birth)
end
return {birth, math.max(0, tonumber(string.match(birth, ':(%d+)$')) - now)}
