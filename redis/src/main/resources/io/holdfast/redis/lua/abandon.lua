-- Withdraws a holder id, whatever has become of it: removes it from the queue, and releases the lock if the id holds
-- it.
--
-- KEYS    lock, queue, stamps, base
-- Result  {1, now, next} the id held the lock; "next" is the holder id that the caller should notify, or empty
--         {0, now}       the id did not hold the lock

leave(ARGV[3])
if not holds(ARGV[3]) then
  return {0, now}
end
return {1, now, ended(ARGV[3]) and vacate() or ''}
