-- Takes the lock for a holder id. If the lock is busy, puts the id into the queue if the caller wants that.
--
-- KEYS    lock, queue, stamps, base
-- ARGV[4] lease in ms
-- ARGV[5] poll in ms
-- ARGV[6] 1: wait in the queue when busy
-- ARGV[7] not after: do nothing if executed later than this, in ms of server time; 0: no limit
-- ARGV[8] how often this id asked before
-- ARGV[9] 1: a repetition for an id that holds writes in any case, so that the caller can wait until replicas have it
-- Result  {1, now, base, waiting}                    the id holds the lock
--         {0, now, remaining, ahead, kind, holder}   busy; kind 0: ours, 1: announced as Redisson's, 2: other
--         {-1, now}                                  too late, nothing done
--         {-2, now, type}                            the key has a type that no lock has
-- A repetition for an id that holds only ever lengthens, and answers with the base that the hold has.

local id, lease, poll = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local limit = tonumber(ARGV[7])
if limit > 0 and now > limit then
  return {-1, now}
end

-- Returns the kind and the holder of a hash that another id holds.
local function holderOf()
  local holder = look('hash')
  return isOurs(holder) and 0 or 1, holder
end

-- Returns how many entries are before a place, without the dead ones at the head, which it removes. A waiter needs to
-- know only whether a live entry is before it. Looking at every entry would cost more the more clients wait.
local function ahead(place)
  for i = 1, math.min(place, 64) do
    local first = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
    if read(redis.call('HGET', KEYS[3], first)) then
      return place - i + 1
    end
    leave(first)
  end
  return math.max(0, place - 64)
end

local function busy(kind, holder)
  local rank = queued() > 0 and redis.call('ZRANK', KEYS[2], id)
  local before = ahead(rank or queued())
  if ARGV[6] == '1' then
    local first = queued() == 0
    enqueue(id, lease, poll, ARGV[8], not rank)
    if first and string.sub(holder, 1, 3) == 'hf-' then
      tell('c', holder, '')
    end
  end
  return {0, now, redis.call('PTTL', KEYS[1]), before, kind, holder}
end

local fields = redis.pcall('HLEN', KEYS[1])
if type(fields) == 'table' then
  local kind = redis.call('TYPE', KEYS[1]).ok
  if kind == 'string' then
    -- A lock of the commands mode, whose value is the holder id and perhaps the number of its change; or one written by
    -- hand. Releases in the commands mode are announced as Redisson's are.
    return busy(1, (look('string')))
  elseif kind == 'hash' or kind == 'none' then
    return fields
  end
  return {-2, now, kind}
end

if fields > 0 then
  local base = redis.call('HGET', KEYS[1], id)
  if not base then
    return busy(holderOf())
  end
  -- After an exact setting, a late repetition must not lengthen: it was sent before the setting.
  local left = redis.call('PTTL', KEYS[1])
  if redis.call('HEXISTS', KEYS[1], '~seq') == 0 and left < lease then
    redis.call('PEXPIRE', KEYS[1], lease)
  elseif ARGV[9] == '1' then
    redis.call('PEXPIRE', KEYS[1], left)
  end
  leave(id)
  return {1, now, baseIn(base), waiting()}
end

local heir = passOn(id, ARGV[6] == '1' and 1 or 0)
if heir and heir ~= id then
  return busy(0, heir)
end
local base = hold(id, lease, nextBase())
if heir or not pushes then
  leave(id)
end
return {1, now, base, waiting()}
