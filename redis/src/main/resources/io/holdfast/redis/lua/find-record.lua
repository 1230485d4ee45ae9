-- Returns the record of work that is done once. Writes nothing.
--
-- KEYS[1] record
-- Result  {1, text}  the record
--         {0}        there is none

local text = redis.call('GET', KEYS[1])
return text and {1, text} or {0}
