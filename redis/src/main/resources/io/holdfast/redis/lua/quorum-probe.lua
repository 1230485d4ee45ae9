-- Tries, when a member is opened, whether this user may run scripts, and in them every command that the scripts of a
-- member use. A hold that could be taken but not deleted would stay until it expires. Leaves no key behind.
--
-- KEYS    two keys that no client uses
-- Result  {refused}: each refused command, followed by the server's error to it

local refused = {}
local function see(command, reply)
  if type(reply) == 'table' and reply.err then
    refused[#refused + 1] = command
    refused[#refused + 1] = reply.err
  end
end

see('time', redis.pcall('TIME'))
see('del', redis.pcall('DEL', KEYS[1]))
see('type', redis.pcall('TYPE', KEYS[1]))
see('pttl', redis.pcall('PTTL', KEYS[1]))
see('get', redis.pcall('GET', KEYS[1]))
see('exists', redis.pcall('EXISTS', KEYS[1]))
see('hlen', redis.pcall('HLEN', KEYS[1]))
see('hgetall', redis.pcall('HGETALL', KEYS[1]))
see('pexpire', redis.pcall('PEXPIRE', KEYS[1], 1))
see('hget', redis.pcall('HGET', KEYS[1], 'member'))
see('hdel', redis.pcall('HDEL', KEYS[1], 'member'))

-- The writes come last, and only if they can be removed again.
if #refused == 0 then
  see('hset', redis.pcall('HSET', KEYS[1], 'member', '1'))
  see('set', redis.pcall('SET', KEYS[2], '1', 'PX', 1000))
  redis.call('DEL', KEYS[1], KEYS[2])
end
return {refused}
