-- Looks. Writes nothing, so that it also runs on a replica.
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
local base, holder = 0, kind == 'none' and '' or 'foreign ' .. kind
if kind == 'string' then
  holder = string.match(redis.call('GET', KEYS[1]), '^(hf%-[^#]+)') or holder
end
if kind == 'hash' and redis.call('HLEN', KEYS[1]) <= 16 then
  local fields = redis.call('HGETALL', KEYS[1])
  for i = 1, #fields, 2 do
    if fields[i] ~= '~seq' and fields[i] ~= 'mode' then
      holder = fields[i]
      base = string.sub(holder, 1, 3) == 'hf-' and baseIn(fields[i + 1]) or 0
      break
    end
  end
end
return {now, kind == 'none' and 0 or redis.call('PTTL', KEYS[1]), base, live, holder}
