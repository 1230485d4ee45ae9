-- Ends the hold of the expected holder. Deletes nothing but a lock.
--
-- ARGV[2] the expected holder, without the round of its acquisition; absent: whichever has the lock
-- Result  {birth, quarantine, what, holder}; what was done: 1 the hold of this holder was ended, 0 there was no hold,
--         2 this holder has the lock, and nothing was done, -3 the key is not, or not only, a lock

local kind = redis.call('TYPE', KEYS[1]).ok
if kind == 'none' then
  return {birth, quarantine, 0, ''}
end
local held, _, isLock = look(kind)
local expected = ARGV[2]
if expected and held ~= expected and string.sub(held, 1, #expected + 1) ~= expected .. '~' then
  return {birth, quarantine, 2, held}
elseif not isLock then
  return {birth, quarantine, -3, kind == 'hash' and 'a hash that is no lock' or held}
end
redis.call('DEL', KEYS[1], KEYS[4])
if isOurs(held) then
  tell(clientOf(held), 'f', held)
end
wake()
return {birth, quarantine, 1, held}
