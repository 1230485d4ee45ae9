-- Ends any hold. Deletes nothing but a lock.
--
-- Result  {birth, quarantine, holder, 1 if the hold was ended}; an empty holder: the lock was free

local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' then
  return {birth, quarantine, '', 1}
end
local held, _, isLock = look(kind)
if not isLock then
  return {birth, quarantine, kind == 'hash' and 'a hash that is no lock' or held, 0}
end
redis.call('DEL', KEYS[1], KEYS[4])
wake()
return {birth, quarantine, held, 1}
