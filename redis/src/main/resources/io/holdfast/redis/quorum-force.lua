-- Ends whatever hold there is.
--
-- Result  {birth, quarantine, whose it was}; empty: nobody's

local held = holder()
if held ~= '' then
  redis.call('DEL', KEYS[1], KEYS[4])
  wake()
end
return {birth, quarantine, held}
