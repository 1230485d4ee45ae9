-- Ends the hold of a holder id and passes the lock on; optionally puts the caller back into the queue, under a new id.
--
-- KEYS    lock, queue, stamps, base
-- ARGV[4] the id to queue again, or empty
-- ARGV[5] its lease in ms
-- ARGV[6] its poll in ms
-- ARGV[7] not after: release, but queue nobody, if executed later than this, in ms of server time; 0: whenever
-- Result  {0, now}                                        the id did not hold the lock; nothing done
--         {1, now, tell}                                  released; whom the caller had better tell, or empty
--         {1, now, 1, base, waiting}                      released, and the new id holds: nobody else waits
--         {1, now, 0, remaining, ahead, kind, holder}     released, and the new id is in the queue
--         {1, now, -1, tell}                              released, but too late to queue
-- The new id is queued only if this very run released the old one.

if not holds(ARGV[3]) then
  return {0, now}
end

local requeue, free = ARGV[4], ended(ARGV[3])
if requeue == '' then
  return {1, now, free and vacate() or ''}
end

local limit = tonumber(ARGV[7])
if limit > 0 and now > limit then
  return {1, now, -1, free and vacate() or ''}
end

local lease, poll = tonumber(ARGV[5]), tonumber(ARGV[6])
if not free then
  local before = queued()
  enqueue(requeue, lease, poll, '0')
  return {1, now, 0, redis.call('PTTL', KEYS[1]), before, 2, 'a hash that is no lock'}
end
local first = pushes and '' or head()
if first ~= '' then
  local before = queued()
  enqueue(requeue, lease, poll, '0')
  -- Nobody holds it; time enough for the one whom the caller tells.
  return {1, now, 0, 50, before, 0, first}
elseif not yields(queued() + 1) then
  local heir, remaining = passOn(nil, 1)
  if not heir then
    return {1, now, 1, hold(requeue, lease, nextBase()), waiting()}
  end
  local before = queued()
  enqueue(requeue, lease, poll, '0')
  return {1, now, 0, remaining, before, 0, heir}
end
leaveFree()
local before = queued()
enqueue(requeue, lease, poll, '0')
-- Nobody holds it. The new id asks at the end of Redisson's turn if it is the first.
return {1, now, 0, turn, before, 2, '(left free for Redisson)'}
