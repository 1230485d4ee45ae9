-- Takes several locks, all or none. Loaded without common.lua; used only where scripts may compute their keys.
--
-- KEYS    lock and queue of the first, the counter, which they share, and lock and queue of each other
-- ARGV[1] lease in ms
-- ARGV[2] not after: do nothing if executed later than this, in ms of server time; 0: whenever
-- ARGV[3] 1: the clients that wait at Redisson are counted
-- ARGV    from the fourth on: the holder id for each lock
-- Result  {1, now, base, waiting, base, waiting, …}  each id holds its lock
--         {0, now, n, remaining}                     the n-th lock is held for so many ms, or a client is in its queue
--                                                    (0); nothing done
--         {-1, now}                                  too late, nothing done
--         {-2, now, type, key}                       a key is something that no lock has; nothing done
-- A repetition for ids that hold only ever lengthens, and answers the bases that the holds have. The first write is
-- that of the counter, or an HSET: a server short of memory refuses that or nothing. If the server refuses PEXPIRE
-- (rights can change at run time), the script gives back all that this run took, so no key stays without expiry.

local lease, limit, counted, locks = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1', #ARGV - 3
if limit > 0 and now > limit then
  return {-1, now}
end

-- The place of a lock in KEYS; that of its queue follows.
local function placeOf(i)
  return i == 1 and 1 or 2 * i
end

-- Returns whether the queue has a live entry. An entry that was not stamped for three polls is dead; a release removes
-- it. If the first 130 entries are dead, a live one behind them is assumed.
local function awaited(queue)
  local entries = redis.call('ZRANGE', KEYS[queue], 0, 129)
  for i = 2, #entries, 2 do
    local at, poll = string.match(entries[i], '^%d+:(%d+):(%d+):')
    if at and now - at <= 3 * poll then
      return true
    end
  end
  return #entries > 128
end

-- All locks are read before anything is written.
local held, free, channels = {}, 0, {}
for i = 1, locks do
  local lock = placeOf(i)
  channels[i] = counted and releasesOf(KEYS[lock])
  local field = redis.pcall('HGET', KEYS[lock], ARGV[i + 3])
  if type(field) == 'table' then
    local kind = redis.call('TYPE', KEYS[lock]).ok
    if kind == 'string' then
      return {0, now, i, redis.call('PTTL', KEYS[lock])}
    elseif kind == 'hash' or kind == 'none' then
      return field
    end
    return {-2, now, kind, KEYS[lock]}
  end
  if field then
    held[i] = field
  elseif redis.call('EXISTS', KEYS[lock]) == 1 then
    return {0, now, i, redis.call('PTTL', KEYS[lock])}
  elseif awaited(lock + 1) then
    return {0, now, i, 0}
  else
    free = free + 1
  end
end

local base, kind = 0, nil
if free > 0 then
  base, kind = nextBase()
  if not base then
    return {-2, now, kind, KEYS[3]}
  end
end
local listeners = counted and rivals(channels) or {}
local result, taken = {1, now}, {}
for i = 1, locks do
  local lock = placeOf(i)
  if not held[i] then
    local text = string.format('%.0f', base)
    result[2 * i + 1] = base
    redis.call('HSET', KEYS[lock], ARGV[i + 3], 'b' .. text)
    taken[#taken + 1] = i
    local ends = redis.pcall('PEXPIRE', KEYS[lock], lease)
    if type(ends) == 'table' then
      for _, n in ipairs(taken) do
        redis.call('HDEL', KEYS[placeOf(n)], ARGV[n + 3])
      end
      error(ends.err, 0)
    end
  else
    result[2 * i + 1] = tonumber(string.match(held[i], '%d+$')) or 0
    if string.sub(held[i], 1, 1) == 'b' and redis.call('PTTL', KEYS[lock]) < lease then
      -- Not after an exact setting: that came after this.
      redis.call('PEXPIRE', KEYS[lock], lease)
    end
  end
  result[2 * i + 2] = redis.call('ZCARD', KEYS[lock + 1]) / 2 + (listeners[i] or 0)
end
return result
