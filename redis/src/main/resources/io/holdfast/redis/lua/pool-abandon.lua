-- Withdraws a holder id from a pool: removes it from the queue, and ends its hold.
--
-- KEYS    holds, queue, counter, ends
-- ARGV[1] holder id
-- Result  {1, whom, 0} the id held; the rest as of a release
--         {2, whom, 0} the id did not hold, and those behind it in the queue were served
--         {0}          the id was nowhere

local ends = number(redis.call('ZSCORE', KEYS[4], ARGV[1]))
local found = finish(ARGV[1])
if not leave(ARGV[1]) and not found then
  return {0}
end
local _, whom = serve()
report()
return {found and ends > now and 1 or 2, whom, 0}
