-- The short path of a release: the id held the lock, nothing else is in the hash, and nobody is in the queue. It comes
-- before the functions of the other texts, so that they are not even built. What it does not finish it leaves to the
-- rest.
-- KEYS, ARGV and Result: see release.lua.

local deleted = redis.pcall('HDEL', KEYS[1], ARGV[1])
if deleted == 1 and not ARGV[2] and redis.call('EXISTS', KEYS[1], KEYS[2]) == 0 then
  local channel = 'redisson_lock__channel:' .. (string.find(KEYS[1], '{', 1, true) and KEYS[1] or '{' .. KEYS[1] .. '}')
  return {1, '', RELEASED}
elseif deleted == 0 then
  return {0}
end
