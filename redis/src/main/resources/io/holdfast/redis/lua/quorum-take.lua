-- Takes the lock for an id, and writes the proposed token. If the lock is busy and ARGV[6] is not 0, records the client
-- as waiting.
--
-- ARGV[3] lease in ms
-- ARGV[4] the number of exact settings that the hold has seen
-- ARGV[5] the proposed token
-- ARGV[6] for how many ms the client waits if the lock is busy; 0: it does not wait
-- Result  {birth, quarantine, 1, accepted, register, waiting}                    the id holds the lock
--         {birth, quarantine, 0, 0, register, waiting, remaining, holder}        busy; remaining -1: without expiry
-- A repetition for an id that holds only ever lengthens.

local id, lease, sequence = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local client = clientOf(id)
local held = holder()

if held ~= '' and held ~= id then
  local others = #waiting(client)
  local wait = tonumber(ARGV[6])
  if wait > 0 then
    local since = string.match(redis.call('HGET', KEYS[3], client) or '', '^(%d+):')
    redis.call('HSET', KEYS[3], client, (since or string.format('%.0f', now)) .. string.format(':%.0f', now + 3 * wait))
    local ends = redis.pcall('PEXPIRE', KEYS[3], math.max(3 * wait, redis.call('PTTL', KEYS[3])))
    if type(ends) == 'table' then
      -- A right was taken away: the client's entry must not stay forever.
      redis.call('HDEL', KEYS[3], client)
      error(ends.err, 0)
    end
    if others == 0 and not since and isOurs(held) then
      tell(clientOf(held), 'c', held)
    end
  end
  local register = tonumber(string.match(redis.call('GET', KEYS[2]) or '', '^%d+')) or 0
  return {birth, quarantine, 0, 0, register, others, redis.call('PTTL', KEYS[1]), shown()}
end

if held == '' then
  redis.call('SET', KEYS[1], id, 'PX', lease)
  remember(sequence, id, lease)
elseif sequence >= settings(id) then
  -- Also if the hold lasts long enough: a setting from before this request must not be executed after it.
  local longer = math.max(redis.call('PTTL', KEYS[1]), lease)
  redis.call('PEXPIRE', KEYS[1], longer)
  remember(sequence, id, longer)
end
redis.call('HDEL', KEYS[3], client)
local accepted, register = write(tonumber(ARGV[5]), id)
return {birth, quarantine, 1, accepted, register, #waiting(client)}
