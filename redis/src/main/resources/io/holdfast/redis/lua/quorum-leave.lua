-- A client (ARGV[2]) does not wait any more.
--
-- Result  {birth, quarantine, 1 if it waited}

return {birth, quarantine, redis.call('HDEL', KEYS[3], ARGV[2])}
