-- Ends whatever hold there is, also a foreign one, and passes the lock on.
--
-- KEYS    lock, queue, stamps, base
-- Result  {1, now, tell} there was one, and whom the caller had better tell, or empty; {0, now} there was none; {-2, now, type} the key is something that no lock is

local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' then
  return {0, now}
end
if kind ~= 'hash' and kind ~= 'string' then
  return {-2, now, kind}
end
return {1, now, vacate()}
