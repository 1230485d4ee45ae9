-- Ends any hold, even another library's, and passes the lock on. Deletes nothing but a lock.
--
-- KEYS    lock, queue, stamps, base
-- Result  {1, now, next}  the hold was ended; "next" is the holder id that the caller should notify, or empty
--         {0, now}        there was no hold
--         {-3, now, what} nothing done: the key is not, or not only, a lock

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
