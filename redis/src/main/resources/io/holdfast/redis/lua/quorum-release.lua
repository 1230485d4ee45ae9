-- Ends the hold of an id.
--
-- ARGV[3] 1: notify the waiting clients
-- Result  {birth, quarantine, 1 if it held, waiting}

local held = holder() == ARGV[2]
if held then
  redis.call('DEL', KEYS[1], KEYS[4])
  if ARGV[3] == '1' then
    wake()
  end
end
return {birth, quarantine, held and 1 or 0, #waiting(clientOf(ARGV[2]))}
