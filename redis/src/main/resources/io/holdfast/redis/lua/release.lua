-- Ends the hold of a holder id and passes the lock on. Puts the caller back into the queue under a new id, if it wants
-- that.
--
-- KEYS    lock, queue, stamps, base
-- ARGV[4] the new id, or empty: do not queue, and no further arguments
-- ARGV[5] its lease in ms
-- ARGV[6] its poll in ms
-- ARGV[7] not after: release, but queue nobody, if executed later than this, in ms of server time; 0: no limit
-- Result  {0, now}                                        the id did not hold the lock; nothing done
--         {1, now, next}                                  released; the id that the caller should notify, or empty
--         {1, now, 1, base, waiting}                      released, and the new id holds: no other client waits
--         {1, now, 0, remaining, ahead, kind, holder}     released, and the new id is in the queue
--         {1, now, -1, next}                              released, but too late to queue
-- The new id is queued only if this run released the old one.

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
  -- The lock is free. 50 ms are enough for the client that the caller notifies.
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
-- The lock is free. The new id asks at the end of Redisson's turn if it is the first.
return {1, now, 0, turn, before, 2, '(left free for Redisson)'}
