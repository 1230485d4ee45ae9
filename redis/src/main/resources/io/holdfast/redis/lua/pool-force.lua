-- Ends all holds of a pool, or one of them, and serves the queue.
--
-- KEYS    holds, queue, counter, ends
-- ARGV[1] the holder whose hold is to end; absent: all
-- Result  {1, whom, 0, holder} ended: the holder that was named, or the one whose hold would have ended first; the rest
--                              as of a release
--         {0}                  there was no hold
--         {2, holder}          the named one does not hold, this one does, and nothing was done

purge()
local holder = soonest()
if not holder then
  serve()
  report()
  return {0}
end
-- The clients of more holders learn it by their renewals.
local holders = ARGV[1] and {ARGV[1]} or redis.call('ZRANGE', KEYS[4], 0, 63)
if not ARGV[1] then
  redis.call('DEL', KEYS[1], KEYS[4])
  used = 0
elseif not finish(ARGV[1]) then
  return {2, holder}
end
for _, each in ipairs(holders) do
  tell('f', each, '')
end
local _, whom = serve()
report()
return {1, whom, 0, ARGV[1] or holder}
