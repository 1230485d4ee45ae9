-- The short path of an acquire: the lock is free and the queue is empty. It precedes the functions of the other texts,
-- so that the server does not build them. All other cases go to the rest of the script. The only side effect so far:
-- the counter may have advanced by one, if it is a second or more ahead of the clock.
-- KEYS, ARGV and Result: see acquire.lua.

local limit = tonumber(ARGV[3])
if limit > 0 and now > limit then
  return {-1, now}
end

if not ARGV[5] and redis.call('EXISTS', KEYS[1], KEYS[2]) == 0 then
  -- As nextBase in counter.lua.
  local base = redis.pcall('INCR', KEYS[3])
  local floor = ((clock[1] - 1577836800) * 64 + math.floor(clock[2] / 15625)) * 4096
  if type(base) == 'number' and base >= 1 and base - floor < 262144 then
    if base < floor then
      base = floor + math.floor(clock[2] % 15625 * 2048 / 15625)
      redis.call('SET', KEYS[3], string.format('%.0f', base), 'PX', 86400000)
    end
    redis.call('HSET', KEYS[1], ARGV[1], 'b' .. string.format('%.0f', base))
    local ends = redis.pcall('PEXPIRE', KEYS[1], ARGV[2])
    if type(ends) == 'table' then
      redis.call('HDEL', KEYS[1], ARGV[1])
      error(ends.err, 0)
    end
    return {1, now, base, 0}
  end
end
