-- Ends whatever hold there is, even another library's, and passes the lock on. Deletes nothing but a lock.
--
-- KEYS    lock, queue, stamps, base
-- Result  {1, now, tell} there was one, and whom the caller had better tell, or empty; {0, now} there was none; {-3, now, what}
--         the key is not, or not only, a lock, and nothing was done

local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' then
  return {0, now}
end
local what, _, isLock = look(kind)
if not isLock then
  return {-3, now, kind == 'hash' and 'a hash that is no lock' or what}
end
redis.call('DEL', KEYS[1])
return {1, now, vacate()}
