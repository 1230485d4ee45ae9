-- Writes a token for an id, whether it holds the lock or not, if it is larger than the one that is there.
--
-- ARGV[3] the token
-- Result  {birth, quarantine, 1 if it was written, what is there}

local written, has = write(tonumber(ARGV[3]), ARGV[2])
return {birth, quarantine, written, has}
