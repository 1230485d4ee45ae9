-- Ends any hold, even another library's, and passes the lock on. Deletes nothing but a lock.
--
-- KEYS    lock, queue, counter
-- Result  {1, whom, heard} there was a hold; the rest as of a release
--         {0}              there was no hold
--         {-3, what}       the key is not, or not only, a lock, and nothing was done

local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' then
  return {0}
end
local what, _, isLock = look(kind)
if not isLock then
  return {-3, kind == 'hash' and 'a hash that is no lock' or what}
end
redis.call('DEL', KEYS[1])
return {1, vacate(), heard}
