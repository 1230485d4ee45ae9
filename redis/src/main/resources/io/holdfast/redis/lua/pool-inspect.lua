-- Returns who holds how much of a pool and how many clients wait. Writes nothing, so it runs even on a replica.
--
-- KEYS    holds, queue, counter, ends
-- Result  {now, remaining, base, waiting, holder, used, {holder, …}, {weight, remaining, base, …}}; an empty holder:
--         free. The first holder is the one whose hold ends first. At most a thousand holders are listed; "used" is
--         the sum of all

local live = 0
local entries = redis.call('ZRANGE', KEYS[2], 0, -1)
for i = 2, #entries, 2 do
  if read(entries[i]) then
    live = live + 1
  end
end

local sum, holders, numbers = number(redis.call('HGET', KEYS[1], 'used')), {}, {}
local ends = redis.call('ZRANGE', KEYS[4], 0, -1, 'WITHSCORES')
for i = 1, #ends, 2 do
  local value, left = redis.call('HGET', KEYS[1], ends[i]), ends[i + 1] - now
  if value and left <= 0 then
    sum = sum - number(string.match(value, '^%d+'))
  elseif value then
    holders[#holders + 1] = ends[i]
    numbers[#numbers + 1] = number(string.match(value, '^%d+'))
    numbers[#numbers + 1] = left
    numbers[#numbers + 1] = baseIn(value)
  end
  if #holders == 1000 then
    break
  end
end
if #holders == 0 then
  return {now, 0, 0, live, '', 0, {}, {}}
end
return {now, numbers[2], numbers[3], live, holders[1], sum, holders, numbers}
