-- Withdraws a holder id, whatever has become of it: out of the queue, and if it holds, released.
--
-- KEYS    lock, queue, stamps, base
-- Result  {1, now, tell} it held the lock; whom the caller had better tell, or empty
--         {0, now}       it did not

leave(ARGV[3])
if not holds(ARGV[3]) then
  return {0, now}
end
return {1, now, ended(ARGV[3]) and vacate() or ''}
