-- Tries, when a store is opened, whether this user may run scripts, and in them every command that the other scripts
-- use. A lock that could be written but not given an expiry would stay forever. Leaves no key behind.
--
-- KEYS    three keys that no client uses
-- ARGV[1] the client's own channel
-- Result  {now, refused, 1 if scripts may publish, refused to pools}: each refused command, followed by the server's
--         error to it; the last are those that only pools use

local refused, toPools = {}, {}
local function see(command, reply, among)
  if type(reply) == 'table' and reply.err then
    among = among or refused
    among[#among + 1] = command
    among[#among + 1] = reply.err
  end
  return reply
end

local clock = see('time', redis.pcall('TIME'))
see('del', redis.pcall('DEL', KEYS[1]))
see('type', redis.pcall('TYPE', KEYS[1]))
see('pttl', redis.pcall('PTTL', KEYS[1]))
see('get', redis.pcall('GET', KEYS[1]))
see('exists', redis.pcall('EXISTS', KEYS[1]))
see('hlen', redis.pcall('HLEN', KEYS[1]))
see('hgetall', redis.pcall('HGETALL', KEYS[1]))
see('zcard', redis.pcall('ZCARD', KEYS[1]))
see('pexpire', redis.pcall('PEXPIRE', KEYS[1], 1))
see('pexpireat', redis.pcall('PEXPIREAT', KEYS[1], 1))
see('hget', redis.pcall('HGET', KEYS[1], 'member'))
see('hstrlen', redis.pcall('HSTRLEN', KEYS[1], 'member'))
see('hdel', redis.pcall('HDEL', KEYS[1], 'member'))
see('persist', redis.pcall('PERSIST', KEYS[1]))
see('zremrangebyscore', redis.pcall('ZREMRANGEBYSCORE', KEYS[1], 1, 1))
see('zscore', redis.pcall('ZSCORE', KEYS[1], 'member'))
see('zrank', redis.pcall('ZRANK', KEYS[1], 'member'))
see('zrange', redis.pcall('ZRANGE', KEYS[1], 0, 0))
see('zrevrange', redis.pcall('ZREVRANGE', KEYS[1], 0, 0))
see('zrem', redis.pcall('ZREM', KEYS[1], 'member'), toPools)

-- The writes come last, and only if they can be removed again.
if #refused == 0 then
  see('hset', redis.pcall('HSET', KEYS[1], 'member', '1'))
  see('zadd', redis.pcall('ZADD', KEYS[2], 1, 'member'))
  see('incr', redis.pcall('INCR', KEYS[3]))
  see('set', redis.pcall('SET', KEYS[3], '1', 'PX', 1000))
  redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
end

local now = clock.err and 0 or clock[1] * 1000 + math.floor(clock[2] / 1000)
return {now, refused, mayTell(ARGV[1]) and 1 or 0, toPools}
