-- Tells, when a store is opened, whether this user may run scripts and in them every command that the others use: a lock
-- that could be written but not given an expiry would stay for ever. Leaves nothing behind.
--
-- KEYS    three of the store's own that nobody uses
-- Result  {now, what the server said to the first command it refused, the refused commands}; empty: all is well

local refused, said = {}, ''
local function try(command, ...)
  local reply = redis.pcall(command, ...)
  if type(reply) == 'table' and reply.err then
    if #refused == 0 then
      said = reply.err
    end
    refused[#refused + 1] = '+' .. string.lower(command)
  end
  return reply
end

local clock = try('TIME')
for _, command in ipairs({'DEL', 'TYPE', 'PTTL', 'GET', 'HLEN', 'HKEYS', 'HVALS', 'HGETALL', 'ZCARD'}) do
  try(command, KEYS[1])
end
try('PEXPIRE', KEYS[1], 1)
for _, command in ipairs({'HGET', 'HDEL', 'HEXISTS', 'HMGET', 'ZREM', 'ZSCORE', 'ZRANK'}) do
  try(command, KEYS[1], 'member')
end
try('ZRANGE', KEYS[1], 0, 0)
try('ZREVRANGE', KEYS[1], 0, 0)

-- What writes comes last: only where it can be removed again.
if #refused == 0 then
  try('HSET', KEYS[1], 'member', '1')
  try('ZADD', KEYS[2], 1, 'member')
  try('SET', KEYS[3], '1', 'PX', 1000)
  redis.call('DEL', KEYS[1], KEYS[2], KEYS[3])
end

local now = clock.err and 0 or clock[1] * 1000 + math.floor(clock[2] / 1000)
return {now, said, table.concat(refused, ' ')}
