-- Takes several locks, all or none. Loaded without common.lua; used only where scripts may compute their keys.
--
-- KEYS    lock, queue, stamps, base of each lock
-- ARGV[1] not after: do nothing if executed later than this, in ms of server time; 0: no limit
-- ARGV[2] lease in ms
-- ARGV    from the third on, for each lock: holder id, and the channel on which Redisson announces the release
-- Result  {1, now, base, waiting, base, waiting, …}  each id holds its lock
--         {0, now, n, remaining}                     nothing done: the n-th lock is held, for so many ms, or clients
--                                                    wait in its queue (0)
--         {-1, now}                                  nothing done: too late
--         {-2, now, type, n}                         nothing done: the key of the n-th lock has a type that no lock has
-- A repetition for ids that hold only ever lengthens, and answers with the bases that the holds have. The first write
-- for a free lock is an HSET: a server short of memory refuses that write or none. If the server refuses PEXPIRE
-- (rights can change at run time), no key stays without expiry: the script gives back all that this run took.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local limit, lease, locks = tonumber(ARGV[1]), tonumber(ARGV[2]), #KEYS / 4
if limit > 0 and now > limit then
  return {-1, now}
end

-- Whether a client in the queue still asks. An entry that was not stamped for three polls is dead; a release removes
-- it. Behind very many dead entries, the script assumes a live one.
local function awaited(queue, stamps)
  local waiting = redis.call('ZRANGE', KEYS[queue], 0, 64)
  for _, entry in ipairs(waiting) do
    local at, poll = string.match(redis.call('HGET', KEYS[stamps], entry) or '', '^(%d+):(%d+):')
    if at and now - at <= 3 * poll then
      return true
    end
  end
  return #waiting > 64
end

-- Reads all locks before it writes anything.
local bases, channels = {}, {}
for i = 1, locks do
  local lock, queue, id = 4 * i - 3, 4 * i - 2, ARGV[2 * i + 1]
  channels[i] = ARGV[2 * i + 2]
  local held = redis.pcall('HGET', KEYS[lock], id)
  if type(held) == 'table' then
    local kind = redis.call('TYPE', KEYS[lock]).ok
    if kind == 'string' then
      return {0, now, i, redis.call('PTTL', KEYS[lock])}
    elseif kind == 'hash' or kind == 'none' then
      return held
    end
    return {-2, now, kind, i}
  end
  if held then
    bases[i] = tonumber(string.match(held, '%d+')) or 0
  elseif redis.call('HLEN', KEYS[lock]) > 0 then
    return {0, now, i, redis.call('PTTL', KEYS[lock])}
  elseif awaited(queue, queue + 1) then
    return {0, now, i, 0}
  end
end

local listeners = rivals(channels)
local result, taken = {1, now}, {}
for i = 1, locks do
  local lock, queue, base = 4 * i - 3, 4 * i - 2, 4 * i
  if not bases[i] then
    -- As in common.lua: a value that is no base counts as lost.
    local last = tonumber(redis.pcall('GET', KEYS[base])) or 0
    if not (last >= 1 and last < 140737488355327) then
      last = 0
    end
    bases[i] = math.max(math.floor(last) + 1, clock[1] * 16000 + math.floor(clock[2] * 2 / 125))
    local text = string.format('%.0f', bases[i])
    redis.call('HSET', KEYS[lock], ARGV[2 * i + 1], 'b' .. text)
    taken[#taken + 1] = i
    local ends = redis.pcall('PEXPIRE', KEYS[lock], lease)
    if type(ends) == 'table' then
      for _, n in ipairs(taken) do
        redis.call('HDEL', KEYS[4 * n - 3], ARGV[2 * n + 1])
      end
      error(ends.err, 0)
    end
    redis.call('SET', KEYS[base], text, 'PX', 86400000)
  elseif redis.call('HEXISTS', KEYS[lock], '~seq') == 0 and redis.call('PTTL', KEYS[lock]) < lease then
    -- Not after an exact setting, which came after this acquire.
    redis.call('PEXPIRE', KEYS[lock], lease)
  end
  result[2 * i + 1] = bases[i]
  result[2 * i + 2] = redis.call('ZCARD', KEYS[queue]) + (listeners[i] or 0)
end
return result
