-- Returns who holds the lock and how many clients wait. Writes nothing, so it runs even on a replica.
--
-- KEYS    lock, queue, counter
-- Result  {now, remaining, base, waiting, holder}; an empty holder: free

local live = 0
local entries = redis.call('ZRANGE', KEYS[2], 0, -1)
for i = 2, #entries, 2 do
  if read(entries[i]) then
    live = live + 1
  end
end

local kind = redis.call('TYPE', KEYS[1]).ok
local holder, value = '', nil
if kind ~= 'none' then
  holder, value = look(kind)
end
local base = isOurs(holder) and value and baseIn(value) or 0
return {now, kind == 'none' and 0 or redis.call('PTTL', KEYS[1]), base, live, holder}
