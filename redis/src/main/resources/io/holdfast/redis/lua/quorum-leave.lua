-- Removes a client (ARGV[2]) from the waiting clients.
--
-- Result  {birth, quarantine, 1 if it waited}

return {birth, quarantine, redis.call('HDEL', KEYS[3], ARGV[2])}
