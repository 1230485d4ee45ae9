-- Renews holds at a quorum's member. Takes no lock. Loaded with clock.lua alone: quorum-common.lua is about one lock.
--
-- KEYS    birth; then lock, waiting and sequence of each hold
-- ARGV    for each hold: id, lease in ms, sequence, exact (0 or 1)
-- Result  {birth, quarantine, code, waiting, code, waiting, …}
--         code 1: the id holds the lock, for at least the lease; 0: the lock is free; 2: the id holds it, but a later
--         setting was executed before, and nothing changed; 3: another id holds it
--
-- An ordinary renewal only ever lengthens. An exact one sets, even to less, and only if its sequence is new. An
-- ordinary renewal that was sent after a setting uses up that setting's sequence.

local birth = redis.call('GET', KEYS[1]) or ''
local result = {birth, math.max(0, (tonumber(string.match(birth, ':(%d+)$')) or 0) - now)}

local function extend(lock, sequenceKey, id, lease, sequence, exact)
  local held = redis.pcall('GET', lock)
  if type(held) == 'table' then
    return redis.call('TYPE', lock).ok == 'none' and 0 or 3
  elseif held ~= id then
    return held and 3 or 0
  end
  if lease == 0 then
    -- A look promises nothing, so it sets nothing and uses up no sequence.
    return 1
  end
  local number, of = string.match(redis.call('GET', sequenceKey) or '', '^(%d+) (.*)$')
  local seen = of == id and tonumber(number) or 0
  if sequence < seen then
    return 2
  end
  local left = redis.call('PTTL', lock)
  if exact and sequence == seen then
    -- Done before. The sender of the repetition may count on the full time only if that much is left.
    return left >= lease and 1 or 2
  end
  local longer = math.max(left, lease)
  if exact or left < lease or sequence > seen then
    -- First, because a server short of memory refuses SET only until the script has written something.
    redis.call('PEXPIRE', lock, exact and lease or longer)
  end
  if sequence > seen then
    redis.call('SET', sequenceKey, string.format('%.0f ', sequence) .. id, 'PX', longer)
  elseif sequence > 0 then
    redis.call('PEXPIRE', sequenceKey, longer)
  end
  return 1
end

for i = 0, (#KEYS - 1) / 3 - 1 do
  local k, a = 3 * i + 2, 4 * i + 1
  result[#result + 1] = extend(
    KEYS[k], KEYS[k + 2], ARGV[a], tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2]), ARGV[a + 3] == '1')
  result[#result + 1] = redis.call('HLEN', KEYS[k + 1])
end
return result
