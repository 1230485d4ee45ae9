-- Ends the hold of the expected holder, even another library's, and passes the lock on. Deletes nothing but a lock.
--
-- KEYS    lock, queue, counter
-- ARGV[1] the expected holder, as inspect shows it; absent: whichever has the lock
-- Result  {1, whom, heard, holder} the hold of this holder was ended; the rest as of a release
--         {0}                      there was no hold
--         {2, holder}              this holder has the lock, and nothing was done
--         {-3, what}               the key is not, or not only, a lock, and nothing was done

local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' then
  return {0}
end
local holder, _, isLock = look(kind)
if ARGV[1] and ARGV[1] ~= holder then
  return {2, holder}
elseif not isLock then
  return {-3, kind == 'hash' and 'a hash that is no lock' or holder}
end
redis.call('DEL', KEYS[1])
if isOurs(holder) then
  tell('f', holder, '')
end
return {1, vacate(), heard, holder}
