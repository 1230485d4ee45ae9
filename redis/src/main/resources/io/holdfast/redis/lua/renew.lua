-- Renews holds. Loaded without common.lua, because it grants nothing. For one hold in a command it is loaded with
-- KEYS[1] and
-- KEYS[2] written out, for services that check that.
--
-- KEYS    lock and queue of each hold; or only the lock of each, if the reply need not count the waiting clients
-- ARGV    for each hold: holder id, setting. The setting is "lease:sequence:exact" (ms, a number, 0 or 1); empty: as
--         for the hold before it, as for most of a batch
-- Result  {now, code, base, waiting, code, base, waiting, …}; without "waiting" if it is not counted
--         code 1: the id holds the lock, for at least the lease; 0: it does not; 2: it does, but a later setting was
--         executed before, and nothing changed
--
-- An ordinary renewal only ever lengthens. An exact one sets, even to less, and only if its sequence is new: a
-- repetition, early or late, changes nothing. An ordinary renewal that was sent after a setting uses up that setting's
-- sequence: otherwise the setting, if it is executed later, would shorten what was promised meanwhile.

local clock = redis.call('TIME')
local result = {clock[1] * 1000 + math.floor(clock[2] / 1000)}
local lease, sequence, exact = 0, 0, false

-- Returns the code. "seen" is the last sequence that was executed.
local function renew(lock, seen)
  if lease == 0 then
    -- A look promises nothing, so it sets nothing and uses up no sequence.
    return 1
  end
  if sequence < seen then
    return 2
  end
  local left = redis.call('PTTL', KEYS[lock])
  if exact and sequence == seen then
    -- Done before. The sender of the repetition may count on the full time only if that much is left.
    return left >= lease and 1 or 2
  end
  local length = exact and lease or math.max(left, lease)
  if sequence > seen then
    -- First, because a server short of memory refuses HSET as the first write, and with it all renewals of this run,
    -- but never PEXPIRE. At least a second, so that the key is still there for the HSET.
    redis.call('PEXPIRE', KEYS[lock], math.max(length, 1000))
    redis.call('HSET', KEYS[lock], '~seq', string.format('%.0f', sequence))
  end
  if sequence > seen or length > left then
    redis.call('PEXPIRE', KEYS[lock], length)
  end
  return 1
end

-- The channel on which Redisson announces the release of a lock.
local function channel(lock)
  return 'redisson_lock__channel:' .. (string.find(lock, '{', 1, true) and lock or '{' .. lock .. '}')
end

local holds = #ARGV / 2
local counted = #KEYS > holds
local width = counted and 3 or 2
local channels = {}
for i = 1, holds do
  local lock, queue = counted and 2 * i - 1 or i, 2 * i
  if ARGV[2 * i] ~= '' then
    local l, s, e = string.match(ARGV[2 * i], '^(%d+):(%d+):(%d)$')
    lease, sequence, exact = tonumber(l), tonumber(s), e == '1'
  end
  local held = redis.pcall('HMGET', KEYS[lock], ARGV[2 * i - 1], '~seq')
  if held.err and not string.find(held.err, 'WRONGTYPE', 1, true) then
    return held
  end
  -- A key of another type, or without the field, is another holder's.
  local ours = not held.err and held[1]
  local at = width * (i - 1) + 2
  result[at] = ours and renew(lock, tonumber(held[2]) or 0) or 0
  result[at + 1] = ours and tonumber(string.match(held[1], '%d+')) or 0
  if counted then
    result[at + 2] = ours and redis.call('ZCARD', KEYS[queue]) or 0
    channels[i] = channel(KEYS[lock])
  end
end

if counted then
  -- The clients that wait at Redisson are not in the queue.
  local listeners = rivals(channels)
  for i = 1, holds do
    if result[width * (i - 1) + 2] ~= 0 then
      result[width * i + 1] = result[width * i + 1] + (listeners[i] or 0)
    end
  end
end
return result
