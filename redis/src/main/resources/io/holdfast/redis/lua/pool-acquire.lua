-- Takes a weight of a pool for a holder id. If there is no room, puts the id into the queue if the caller wants that.
--
-- KEYS    holds, queue, counter, ends
-- ARGV[1] holder id
-- ARGV[2] lease in ms
-- ARGV[3] not after: do nothing if executed later than this, in ms of server time; 0: whenever
-- ARGV[4] "poll:nonce": wait in the queue when busy; poll in ms, and what a grant must repeat. Or empty
-- ARGV[5] weight, at most the capacity
-- ARGV[6] capacity: the limit that the client knows
-- ARGV[7] if present, a repetition for an id that holds writes in any case, so that the caller can wait until replicas
--         have the write
-- Result  as of an acquire of a lock, see acquire.lua: {1, now, base, waiting}, {0, now, remaining, ahead, 0, holder},
--         {-1, now}, {-2, now, type, key}
-- A repetition for an id that holds only ever lengthens, and answers the base that the hold has.

local id, lease = ARGV[1], tonumber(ARGV[2])
local weight, capacity = tonumber(ARGV[5]), tonumber(ARGV[6])
local poll, nonce = string.match(ARGV[4], '^(%d+):(%w+)$')

local limit = tonumber(ARGV[3])
if limit > 0 and now > limit then
  return {-1, now}
end

local purged = purge()
local value = used > 0 and redis.call('HGET', KEYS[1], id)
local ends = value and number(redis.call('ZSCORE', KEYS[4], id))
if value and ends > now then
  -- Not after an exact setting: that was sent after the request that is repeated.
  local lengthens = string.find(value, ':b', 1, true) and ends < now + lease
  if lengthens or ARGV[7] then
    redis.call('HDEL', KEYS[1], '') -- no such field; a write that the server never refuses for lack of memory
    redis.call('HSET', KEYS[1], id, value)
  end
  if lengthens then
    local refusal = keep(now + lease)
    if refusal then
      error(refusal.err, 0)
    end
    redis.call('ZADD', KEYS[4], now + lease, id)
  end
  if purged then
    serve()
  end
  report()
  return {1, now, baseIn(value), queued()}
elseif value then
  -- Very many holds have ended, and this is one of them.
  finish(id)
end

local base = take(id, lease, weight, capacity)
local reply
if base then
  reply = {1, now, base, queued()}
elseif unusable then
  reply = {-2, now, unusable, KEYS[3]}
else
  reply = busy(0, id, lease, poll, nonce, weight, capacity)
end
report()
return reply
