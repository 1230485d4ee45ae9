-- Ends the hold of a holder id and passes the lock on. If ARGV[2] is there, also puts the caller into the queue again,
-- under that id.
--
-- KEYS    lock, queue, counter
-- ARGV[1] holder id
-- ARGV[2] the id to queue again, if there is one; then also
-- ARGV[3] its lease in ms
-- ARGV[4] its "poll:nonce", as of an acquire
-- ARGV[5] not after: release, but queue nobody, if executed later than this, in ms of server time; 0: whenever
-- Result  {0}                                        the id did not hold the lock; nothing done
--         {1, whom, heard}                           released; the id that the caller should notify, or empty; how many
--                                                    Redisson clients received the release
--         {2, now, base, waiting}                    released, and the new id holds: no other client waits
--         {3, now, remaining, ahead, kind, holder}   released, and the new id is in the queue
--         {4, whom, heard}                           released, but too late to queue
-- The new id is queued only if this very run released the old one.

if type(deleted) == 'table' then
  -- A key of another type is another program's. A hash that refuses is not.
  if redis.call('TYPE', KEYS[1]).ok == 'hash' then
    return deleted
  end
  return {0}
end

local requeue, free = ARGV[2], isFree()
if not requeue then
  return {1, free and vacate() or '', heard}
end

local limit = tonumber(ARGV[5])
if limit > 0 and now > limit then
  return {4, free and vacate() or '', heard}
end

local lease = tonumber(ARGV[3])
local poll, nonce = string.match(ARGV[4], '^(%d+):(%w+)$')

-- Puts the new id into the queue, behind a holder that may not be one.
local function queue(remaining, kind, holder)
  local before = queued()
  enqueue(requeue, lease, tonumber(poll), nonce)
  return {3, now, remaining, before, kind, holder}
end

if not free then
  return queue(redis.call('PTTL', KEYS[1]), 2, 'a hash that is no lock')
end
local next = pushes and '' or head()
if next ~= '' then
  -- The lock is free. The time is enough for the client that the caller notifies.
  return queue(50, 0, next)
elseif not yields(queued() + 1) then
  local heir, remaining = passOn(nil, 1)
  if heir then
    return queue(remaining, 0, heir)
  end
  local base = nextBase()
  if base then
    return {2, now, hold(requeue, lease, base), waiting()}
  end
end
leaveFree()
-- The lock is free. The new id asks at the end of Redisson's turn if it is the first.
return queue(turn, 2, '(left free for Redisson)')
