-- Renews holds. Loaded without common.lua: it grants nothing.
--
-- KEYS    lock and queue of each hold
-- ARGV    holder id, lease in ms, sequence, exact (0 or 1), Redisson's channel, of each hold
-- Result  {now, code, base, waiting, code, base, waiting, …}
--         code 1: it holds the lock, for at least the lease; 0: it does not; 2: it does, but a later setting was
--         executed before, and nothing changed
--
-- A plain renewal only ever lengthens. An exact one sets, also to less, and only if its sequence is new: a repetition,
-- now or late, changes nothing. A plain renewal that was sent after a setting also uses up that setting's sequence: the
-- setting, if it comes later, would shorten what was promised meanwhile.

local clock = redis.call('TIME')
local result = {clock[1] * 1000 + math.floor(clock[2] / 1000)}

-- Returns the code.
local function renew(key, lease, sequence, exact)
  local seen = tonumber(redis.call('HGET', key, '~seq')) or 0
  if sequence < seen then
    return 2
  end
  if sequence > seen then
    redis.call('HSET', key, '~seq', string.format('%.0f', sequence))
  end
  local left = redis.call('PTTL', key)
  if exact and sequence == seen then
    -- Done before. Whoever sent this again may count on the full time only if it is there.
    return left >= lease and 1 or 2
  end
  if exact or left < lease then
    redis.call('PEXPIRE', key, lease)
  end
  return 1
end

for i = 1, #KEYS / 2 do
  local lock, queue, arg = KEYS[2 * i - 1], KEYS[2 * i], 5 * (i - 1)
  local code, base, waiting = 0, redis.pcall('HGET', lock, ARGV[arg + 1]), 0
  if type(base) == 'table' and not string.find(base.err, 'WRONGTYPE', 1, true) then
    return base
  end
  if type(base) == 'string' then
    code = renew(lock, tonumber(ARGV[arg + 2]), tonumber(ARGV[arg + 3]), ARGV[arg + 4] == '1')
    waiting = redis.call('ZCARD', queue)
      + (tonumber(redis.pcall('PUBSUB', 'NUMSUB', ARGV[arg + 5])[2]) or 0)
  end
  result[3 * i - 1] = code
  result[3 * i] = code == 0 and 0 or tonumber(base) or 0
  result[3 * i + 1] = waiting
end
return result
