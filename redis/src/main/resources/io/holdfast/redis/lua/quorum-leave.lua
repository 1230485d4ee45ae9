-- Takes note that a client (ARGV[2]) no longer waits.
--
-- Result  {birth, quarantine, 1 if it waited}

return {birth, quarantine, redis.call('HDEL', KEYS[3], ARGV[2])}
