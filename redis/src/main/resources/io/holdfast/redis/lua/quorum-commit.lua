-- Writes a token for an id, even if the id does not hold the lock, if the token is larger than the present one.
--
-- ARGV[3] the token
-- Result  {birth, quarantine, 1 if it was written, the present token}

local written, has = write(tonumber(ARGV[3]), ARGV[2])
return {birth, quarantine, written, has}
