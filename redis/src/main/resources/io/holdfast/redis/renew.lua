-- Renews holds. Loaded without common.lua: it grants nothing. For one hold in a command it is loaded with KEYS[1] and
-- KEYS[2] written out, for services that look for that.
--
-- KEYS    lock and queue of each hold; the lock twice where the queue is at another node just now
-- ARGV    holder id, setting, of each hold. The setting is "lease:sequence:exact", in ms, a number, 0 or 1; empty: as for
--         the hold before it, which is what most of a batch are
-- Result  {now, code, base, waiting, code, base, waiting, …}
--         code 1: it holds the lock, for at least the lease; 0: it does not; 2: it does, but a later setting was
--         executed before, and nothing changed
--
-- A plain renewal only ever lengthens. An exact one sets, also to less, and only if its sequence is new: a repetition,
-- now or late, changes nothing. A plain renewal that was sent after a setting also uses up that setting's sequence: the
-- setting, if it comes later, would shorten what was promised meanwhile.

local clock = redis.call('TIME')
local result = {clock[1] * 1000 + math.floor(clock[2] / 1000)}
local lease, sequence, exact = 0, 0, false

-- Returns the code. "seen" is the last sequence that was executed.
local function renew(lock, seen)
  if sequence < seen then
    return 2
  end
  if sequence > seen then
    redis.call('HSET', KEYS[lock], '~seq', string.format('%.0f', sequence))
  end
  local left = redis.call('PTTL', KEYS[lock])
  if exact and sequence == seen then
    -- Done before. Whoever sent this again may count on the full time only if it is there.
    return left >= lease and 1 or 2
  end
  if exact or left < lease then
    redis.call('PEXPIRE', KEYS[lock], lease)
  end
  return 1
end

-- The channel on which Redisson announces the release of a lock.
local function channel(lock)
  return 'redisson_lock__channel:' .. (string.find(lock, '{', 1, true) and lock or '{' .. lock .. '}')
end

local channels = {}
for i = 1, #KEYS / 2 do
  local lock, queue = 2 * i - 1, 2 * i
  if ARGV[2 * i] ~= '' then
    local l, s, e = string.match(ARGV[2 * i], '^(%d+):(%d+):(%d)$')
    lease, sequence, exact = tonumber(l), tonumber(s), e == '1'
  end
  local held = redis.pcall('HMGET', KEYS[lock], ARGV[2 * i - 1], '~seq')
  if held.err and not string.find(held.err, 'WRONGTYPE', 1, true) then
    return held
  end
  -- A key of another type is somebody else's; so is one that lacks the field.
  local holds = not held.err and held[1]
  result[3 * i - 1] = holds and renew(lock, tonumber(held[2]) or 0) or 0
  result[3 * i] = holds and tonumber(held[1]) or 0
  result[3 * i + 1] = holds and KEYS[queue] ~= KEYS[lock] and redis.call('ZCARD', KEYS[queue]) or 0
  channels[i] = channel(KEYS[lock])
end

-- Those who wait at Redisson are not in the queue.
local listeners = rivals(channels)
for i = 1, #channels do
  if result[3 * i - 1] ~= 0 then
    result[3 * i + 1] = result[3 * i + 1] + (listeners[i] or 0)
  end
end
return result
