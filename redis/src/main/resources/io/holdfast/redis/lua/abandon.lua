-- Withdraws a holder id: removes it from the queue, and releases the lock if the id holds it.
--
-- KEYS    lock, queue, counter
-- ARGV[1] holder id
-- Result  {1, whom, heard} the id held the lock; the rest as of a release
--         {0}              the id did not hold the lock

leave(ARGV[1])
if not ended(ARGV[1]) then
  return {0}
end
return {1, isFree() and vacate() or '', heard}
