-- The short path of a release: the id held the lock, the hash has no other field, and the queue is empty. It precedes
-- the functions of the other texts, so that the server does not build them. All other cases go to the rest of the
-- script.
-- KEYS, ARGV and Result: see release.lua.

local deleted = redis.pcall('HDEL', KEYS[1], ARGV[1])
if deleted == 1 and not ARGV[2] and redis.call('EXISTS', KEYS[1], KEYS[2]) == 0 then
  local channel = 'redisson_lock__channel:' .. (string.find(KEYS[1], '{', 1, true) and KEYS[1] or '{' .. KEYS[1] .. '}')
  return {1, '', RELEASED}
elseif deleted == 0 then
  return {0}
end
