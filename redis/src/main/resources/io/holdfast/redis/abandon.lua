-- Withdraws a holder id, whatever has become of it: out of the queue, and if it holds, released.
--
-- KEYS    lock, queue, stamps, base
-- Result  {held, now}: 1 if it held the lock, else 0

leave(ARGV[3])
if not holds(ARGV[3]) then
  return {0, now}
end
vacate()
return {1, now}
