-- Makes a hold for the trial of renewals, with an expiry: the opening process may be killed at any time.
--
-- KEYS    a lock that no client uses
-- ARGV    holder id, milliseconds
-- Result  {1}

redis.call('HSET', KEYS[1], ARGV[1], 'b1')
local ends = redis.pcall('PEXPIRE', KEYS[1], ARGV[2])
if type(ends) == 'table' then
  redis.call('HDEL', KEYS[1], ARGV[1])
  error(ends.err, 0)
end
return {1}
