-- Says who holds the lock and how many clients wait. Writes nothing, so that it runs even on a replica.
--
-- KEYS    lock, queue, stamps, base
-- Result  {now, remaining, base, waiting, holder}; an empty holder: free

local live = 0
for _, stamp in ipairs(redis.call('HVALS', KEYS[3])) do
  if read(stamp) then
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
