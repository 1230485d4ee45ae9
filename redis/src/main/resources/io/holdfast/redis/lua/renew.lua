-- Renews holds, all in the same way. Loaded without common.lua: it grants nothing. For one hold in a command, KEYS[1]
-- and KEYS[2] are written out when it is loaded, for services that check that.
--
-- KEYS    lock of each hold; then, if the waiting clients are counted, the queue of each
-- ARGV[1] lease in ms; 0: a look, which promises and changes nothing
-- ARGV[2] how many exact settings of these holds were sent
-- ARGV[3] 1: this is an exact setting, the last of them
-- ARGV    from the fourth on: the holder ids
-- Result  {now, {place, code, place, code, …}, {waiting, …}}. A hold that is not named holds the lock, for at least the
--         lease. Code 0: it does not hold the lock; 2: it does, but a later setting was executed before, and nothing
--         changed. "waiting" is there only if it is counted
--
-- A plain renewal only ever lengthens. An exact one sets, also to less, and only if its number is new: a repetition,
-- now or late, changes nothing. A plain renewal that was sent after a setting also uses up that setting's number: the
-- setting, if it comes later, would shorten what was promised meanwhile.

local lease, sequence, exact = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1'
local holds = #ARGV - 3
local counted = #KEYS > holds
local others, greater = {}, true
local call, pcall, byte = redis.call, redis.pcall, string.byte

local function lengthen(i)
  if greater then
    local done = pcall('PEXPIRE', KEYS[i], lease, 'GT')
    if type(done) == 'number' then
      return
    end
    -- A server before 7.0.
    greater = false
  end
  if call('PTTL', KEYS[i]) < lease then
    call('PEXPIRE', KEYS[i], lease)
  end
end

-- Renews a hold of which a setting was or is sent. Returns the code; 1: renewed.
local function renew(i, value)
  local last, base = string.match(value, '^s(%d+):(%d+)$')
  local seen = tonumber(last) or 0
  if sequence < seen then
    return 2
  end
  local left = call('PTTL', KEYS[i])
  if exact and sequence == seen then
    -- Done before. The sender of the repetition may count on the full time only if that much is left.
    return left >= lease and 1 or 2
  end
  local length = exact and lease or math.max(left, lease)
  if sequence > seen then
    -- A server short of memory refuses HSET as the first write, and with it all renewals of this run; never PEXPIRE. So
    -- long that the key is there for the HSET.
    call('PEXPIRE', KEYS[i], math.max(length, 1000))
    call('HSET', KEYS[i], ARGV[i + 3], 's' .. ARGV[2] .. ':' .. (base or string.match(value, '%d+$') or '0'))
  end
  if sequence > seen or length > left then
    call('PEXPIRE', KEYS[i], length)
  end
  return 1
end

for i = 1, holds do
  -- A key of another type is somebody else's; so is one that lacks the field.
  local held = pcall('HGET', KEYS[i], ARGV[i + 3])
  if type(held) == 'table' and not string.find(held.err, 'WRONGTYPE', 1, true) then
    return held
  end
  local code = 1
  if type(held) ~= 'string' then
    code = 0
  elseif lease == 0 and not exact then
    code = 1
  elseif sequence == 0 and byte(held) == 98 then
    lengthen(i)
  else
    code = renew(i, held)
  end
  if code ~= 1 then
    others[#others + 1] = i
    others[#others + 1] = code
  end
end

if not counted then
  return {now, others}
end
local waiting, channels = {}, {}
for i = 1, holds do
  channels[i] = releasesOf(KEYS[i])
end
-- Those who wait at Redisson are not in the queue.
local listeners = rivals(channels)
for i = 1, holds do
  waiting[i] = call('ZCARD', KEYS[holds + i]) / 2 + (listeners[i] or 0)
end
return {now, others, waiting}
