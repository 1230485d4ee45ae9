-- Counts the clients that wait for the holds that renew-short.lua has renewed. KEYS, ARGV and Result: see there.

local waiting, channels = {}, {}
for i = 1, holds do
  channels[i] = releasesOf(keys[i])
end
-- The clients that wait at Redisson are not in the queue.
local listeners = rivals(channels)
for i = 1, holds do
  -- A key of another type is no queue. It must not fail the other renewals.
  local queued = pcall('ZCARD', keys[holds + i])
  waiting[i] = (type(queued) == 'number' and queued / 2 or 0) + (listeners[i] or 0)
end
return {now, others, waiting}
