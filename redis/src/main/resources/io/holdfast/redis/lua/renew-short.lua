-- Renews holds, all in the same way. Nearly all renewals end here, without a count of waiting clients, before the
-- server builds the functions of the other texts. Loaded without common.lua: it grants nothing. For one hold in a
-- command, redis.call, KEYS[1] and KEYS[2] are written out when it is loaded, for services that check that.
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
-- A plain renewal only ever lengthens. An exact one sets, even to less, and only if its number is new: a repetition,
-- now or late, changes nothing. A plain renewal that was sent after a setting also uses up that setting's number: if
-- the setting were executed later, it would shorten what was promised in the meantime.

-- Locals, because looking up a global costs a good part of a call.
local keys, args, call, pcall, type = KEYS, ARGV, redis.call, redis.pcall, type

local lease, sequence, exact = tonumber(args[1]), tonumber(args[2]), args[3] == '1'
local holds = #args - 3
local others = {}

-- One text for all holds: the server prints a number again in each call, and turns the length of PEXPIRE into this.
local ends = string.format('%.0f', now + lease)

-- The longest value of a hold without settings: 'b' and a base of 49 bits. The value after a setting is longer. So the
-- length, which costs less than the value, shows whether there was a setting.
local PLAIN = 16

-- Returns the value after a setting.
local function settled(value)
  local base = string.match(value, '%d+$') or '0'
  return 's' .. args[2] .. ':' .. string.rep('0', PLAIN - #base) .. base
end

-- Renews a hold of which a setting was or is sent. Returns the code; 1: renewed.
local function renew(i)
  local value = call('HGET', keys[i], args[i + 3])
  local seen = tonumber(string.match(value, '^s(%d+):')) or 0
  if sequence < seen then
    return 2
  end
  local left = call('PTTL', keys[i])
  if exact and sequence == seen then
    -- Done before. The sender of the repetition may count on the full time only if that much is left.
    return left >= lease and 1 or 2
  end
  local length = exact and lease or math.max(left, lease)
  if sequence > seen then
    -- A server short of memory refuses HSET as the first write, and with it all renewals of this run; never PEXPIRE. So
    -- long that the key is there for the HSET.
    call('PEXPIRE', keys[i], math.max(length, 1000))
    call('HSET', keys[i], args[i + 3], settled(value))
  end
  if sequence > seen or length > left then
    call('PEXPIRE', keys[i], length)
  end
  return 1
end

local plain = lease > 0 and sequence == 0 and not exact
local greater = true -- whether the server knows GT, as from 7.0 on

for i = 1, holds do
  local size, code = pcall('HSTRLEN', keys[i], args[i + 3]), 1
  if size == 0 then
    code = 0
  elseif type(size) == 'table' then
    -- A key of another type is another program's; so is one that lacks the field.
    if not string.find(size.err, 'WRONGTYPE', 1, true) then
      return size
    end
    code = 0
  elseif plain and size <= PLAIN then
    local longer = greater and pcall('PEXPIREAT', keys[i], ends, 'GT')
    greater = type(longer) == 'number'
    -- GT takes a key without expiry for one that lasts forever. Another program's PERSIST removed the expiry.
    if longer ~= 1 and call('PTTL', keys[i]) < lease then
      call('PEXPIRE', keys[i], args[1])
    end
  elseif lease > 0 or exact then
    code = renew(i)
  end
  if code ~= 1 then
    others[#others + 1] = i
    others[#others + 1] = code
  end
end

if #keys == holds then
  return {now, others}
end
