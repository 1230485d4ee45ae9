-- Ends the hold of a holder id in a pool, and serves the queue. If ARGV[2] is there, also puts the caller into the queue
-- again, under that id.
--
-- KEYS    holds, queue, counter, ends
-- ARGV[1] holder id
-- ARGV[2] the id to queue again, if there is one; then also
-- ARGV[3] its lease in ms
-- ARGV[4] its "poll:nonce", as of an acquire
-- ARGV[5] not after: release, but queue nobody, if executed later than this, in ms of server time; 0: whenever
-- ARGV[6] its weight, at most the capacity
-- ARGV[7] its capacity
-- Result  as of a release of a lock, see release.lua; nobody is heard at Redisson: {0}, {1, whom, 0},
--         {2, now, base, waiting}, {3, now, remaining, ahead, 0, holder}, {4, whom, 0}
-- The new id is queued only if this very run released the old one.

local ends = number(redis.call('ZSCORE', KEYS[4], ARGV[1]))
local found = finish(ARGV[1])
local requeue, limit, reply = ARGV[2], tonumber(ARGV[5] or 0), nil
if not found or ends <= now then
  -- Not held, or no longer. A hold that has ended makes room all the same.
  if found then
    serve()
  end
  reply = {0}
elseif not requeue or limit > 0 and now > limit then
  local _, whom = serve()
  reply = {requeue and 4 or 1, whom, 0}
else
  local lease, weight, capacity = tonumber(ARGV[3]), tonumber(ARGV[6]), tonumber(ARGV[7])
  local base = take(requeue, lease, weight, capacity)
  if base then
    reply = {2, now, base, queued()}
  else
    local poll, nonce = string.match(ARGV[4], '^(%d+):(%w+)$')
    reply = busy(3, requeue, lease, poll, nonce, weight, capacity)
  end
end
report()
return reply
