-- Renews holds of pools, all in the same way. Loaded without pool.lua: it grants nothing. For one hold in a command,
-- redis.call and the keys are written out when it is loaded, for services that check that.
--
-- The holds are in rows. The holds of a row are of one pool, and share its keys.
--
-- KEYS      the holds of each row's pool; the ends of each. If the waiting clients are counted, also the queue of each.
-- ARGV[1-3] see renew-short.lua, also for the result, and for what a plain renewal, an exact one and a look do
-- ARGV[4]   how many rows; then how many holds each row has; then the holder ids
--
-- A hold whose time has passed is not renewed, whether it was removed or not. A renewal touches its own hold alone.
-- Hash and ends expire a second after the latest end or later, so they are kept for long enough before an end is moved.

local keys, args, call, pcall = KEYS, ARGV, redis.call, redis.pcall

local lease, sequence, exact = tonumber(args[1]), tonumber(args[2]), args[3] == '1'
local rows = tonumber(args[4])
local counted = #keys > 2 * rows
local others, waiting = {}, {}

-- Returns the code: 0: does not hold; 1: renewed; 2: superseded; and the new end if it is another than before.
local function renew(row, id)
  local value = call('HGET', keys[row], id)
  local ends = value and tonumber(call('ZSCORE', keys[rows + row], id) or 0)
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
  elseif sequence > seen then
    call('HSET', keys[row], id, string.match(value, '^%d+') .. ':s' .. args[2] .. ':' .. string.match(value, '%d+$'))
  end
  local later = exact and now + lease or math.max(ends, now + lease)
  return 1, later ~= ends and later or nil
end

if lease > 0 or exact then
  -- A server short of memory refuses HSET and ZADD as the first write, and with it all renewals of this run; never HDEL.
  -- There is no such field.
  pcall('HDEL', keys[1], '')
end

local place, first = 0, 5 + rows
for row = 1, rows do
  local holds = tonumber(args[4 + row])
  local moved = {}
  for i = 1, holds do
    local id = args[first + i - 1]
    local code, later = renew(row, id)
    if later then
      moved[#moved + 1] = later
      moved[#moved + 1] = id
    end
    place = place + 1
    if code ~= 1 then
      others[#others + 1] = place
      others[#others + 1] = code
    end
    if counted then
      waiting[place] = call('ZCARD', keys[2 * rows + row]) / 2
    end
  end
  if #moved > 0 then
    if call('PTTL', keys[row]) < lease + 1000 then
      local late = string.format('%.0f', now + lease + 1000)
      call('PEXPIREAT', keys[row], late)
      call('PEXPIREAT', keys[rows + row], late)
    end
    call('ZADD', keys[rows + row], unpack(moved))
  end
  first = first + holds
end

if counted then
  return {now, others, waiting}
end
return {now, others}
