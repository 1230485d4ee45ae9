-- Takes the lock for a holder id. If the lock is busy, puts the id into the queue if the caller wants that.
--
-- KEYS    lock, queue, counter
-- ARGV[1] holder id
-- ARGV[2] lease in ms
-- ARGV[3] not after: do nothing if executed later than this, in ms of server time; 0: whenever
-- ARGV[4] "poll:nonce": wait in the queue when busy; poll in ms, and what a grant must repeat. Or empty
-- ARGV[5] if present, the clients that wait at Redisson are counted. 'w': a repetition for an id that holds writes in
--         any case, so that the caller can wait until replicas have the write
-- Result  {1, now, base, waiting}                    the id holds the lock
--         {0, now, remaining, ahead, kind, holder}   busy; kind 0: ours, 1: announced as Redisson's, 2: other
--         {-1, now}                                  too late, nothing done
--         {-2, now, type, key}                       a key is something that no lock has
-- A repetition for an id that holds only ever lengthens, and answers the base that the hold has.

local id, lease = ARGV[1], tonumber(ARGV[2])
local poll, nonce = string.match(ARGV[4], '^(%d+):(%w+)$')

-- Returns the kind and the holder of a hash that another id holds.
local function holderOf()
  local holder = look('hash')
  return isOurs(holder) and 0 or 1, holder
end

-- Returns how many entries are before a place. Removes dead entries at the head, and does not count them. A waiter
-- needs to know only whether a live entry is before it, and to read all entries would cost more the more clients wait.
local function ahead(place)
  for i = 1, math.min(place, 64) do
    local _, stamp, ticket = first()
    if read(stamp) then
      return place - i + 1
    end
    remove(ticket)
  end
  return math.max(0, place - 64)
end

local function busy(kind, holder)
  local rank = queued() > 0 and redis.call('ZRANK', KEYS[2], id)
  local before = ahead(rank and rank / 2 or queued())
  if poll then
    local alone = queued() == 0
    enqueue(id, lease, tonumber(poll), nonce, not rank)
    if alone and string.sub(holder, 1, 3) == 'hf-' then
      tell('c', holder, '')
    end
  end
  return {0, now, redis.call('PTTL', KEYS[1]), before, kind, holder}
end

local fields = redis.pcall('HLEN', KEYS[1])
if type(fields) == 'table' then
  local kind = redis.call('TYPE', KEYS[1]).ok
  if kind == 'string' then
    -- A lock of mode commands, whose releases are announced as Redisson's are; or a hand-written lock.
    return busy(1, (look('string')))
  elseif kind == 'hash' or kind == 'none' then
    return fields
  end
  return {-2, now, kind, KEYS[1]}
end

if fields > 0 then
  local base = redis.call('HGET', KEYS[1], id)
  if not base then
    return busy(holderOf())
  end
  -- After an exact setting, a late repetition must not lengthen: it was sent before the setting. -1: the key has lost
  -- its expiry.
  local left = redis.call('PTTL', KEYS[1])
  if left < 0 or string.sub(base, 1, 1) == 'b' and left < lease then
    redis.call('PEXPIRE', KEYS[1], lease)
  elseif ARGV[5] == 'w' then
    redis.call('PEXPIRE', KEYS[1], left)
  end
  leave(id)
  return {1, now, baseIn(base), waiting()}
end

local heir = passOn(id, poll and 1 or 0)
if heir and heir ~= id then
  return busy(0, heir)
end
local base, kind = nextBase()
if not base then
  return {-2, now, kind, KEYS[3]}
end
hold(id, lease, base)
if heir or not pushes then
  leave(id)
end
return {1, now, base, waiting()}
