-- Writes the record of work that is done once, if the id of its holder holds the lock.
--
-- KEYS    lock, record
-- ARGV[1] holder id
-- ARGV[2] text
-- ARGV[3] for how long the record stays, in ms
-- Result  {1}  the record has this text
--         {0}  the id does not hold the lock, and nothing was written

local size = redis.pcall('HSTRLEN', KEYS[1], ARGV[1])
if type(size) == 'table' and not string.find(size.err, 'WRONGTYPE', 1, true) then
  return size
elseif type(size) == 'number' and size > 0 then
  redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
  return {1}
end
-- A repetition of a command that was executed before the lock was released.
return {redis.call('GET', KEYS[2]) == ARGV[2] and 1 or 0}
