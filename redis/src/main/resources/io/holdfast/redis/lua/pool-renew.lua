-- Renews holds of pools, all in the same way. Loaded without pool.lua: it grants nothing. For one hold in a command,
-- redis.call and the keys are written out when it is loaded, for services that check that.
--
-- KEYS    the holds of each pool; the ends of each; then, if the waiting clients are counted, the queue of each
-- ARGV and Result: see renew-short.lua, also for what a plain renewal, an exact one and a look do.
--
-- A hold whose time has passed is not renewed, whether it was removed or not. A renewal touches its own hold alone.
-- Hash and ends expire a second after the latest end or later, so they are kept for long enough before an end is moved.

local keys, args, call, pcall, type = KEYS, ARGV, redis.call, redis.pcall, type

local lease, sequence, exact = tonumber(args[1]), tonumber(args[2]), args[3] == '1'
local holds = #args - 3
local counted = #keys > 2 * holds
local others, waiting = {}, {}

-- Returns the code: 0: does not hold; 1: renewed; 2: superseded.
local function renew(i)
  local value = call('HGET', keys[i], args[i + 3])
  local ends = value and tonumber(call('ZSCORE', keys[holds + i], args[i + 3]) or 0)
  if not value or ends <= now then
    return 0
  elseif lease == 0 and not exact then
    return 1
  end
  local seen = tonumber(string.match(value, ':s(%d+):')) or 0
  if sequence < seen then
    return 2
  elseif exact and sequence == seen then
    -- Done before. The sender of the repetition may count on the full time only if that much is left.
    return ends >= now + lease and 1 or 2
  end
  local later = exact and now + lease or math.max(ends, now + lease)
  if call('PTTL', keys[i]) < later + 1000 - now then
    local text = string.format('%.0f', later + 1000)
    call('PEXPIREAT', keys[i], text)
    call('PEXPIREAT', keys[holds + i], text)
  end
  if sequence > seen then
    call('HSET', keys[i], args[i + 3],
      string.match(value, '^%d+') .. ':s' .. args[2] .. ':' .. string.match(value, '%d+$'))
  end
  if later ~= ends then
    call('ZADD', keys[holds + i], later, args[i + 3])
  end
  return 1
end

if lease > 0 or exact then
  -- A server short of memory refuses HSET and ZADD as the first write, and with it all renewals of this run; never HDEL.
  -- There is no such field.
  pcall('HDEL', keys[1], '')
end

for i = 1, holds do
  local code = renew(i)
  if code ~= 1 then
    others[#others + 1] = i
    others[#others + 1] = code
  end
  if counted then
    waiting[i] = call('ZCARD', keys[2 * holds + i]) / 2
  end
end

if counted then
  return {now, others, waiting}
end
return {now, others}
