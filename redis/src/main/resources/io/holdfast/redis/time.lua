-- The server's time in ms. Tells, when a store is opened, whether this user may run scripts.

local clock = redis.call('TIME')
return {clock[1] * 1000 + math.floor(clock[2] / 1000)}
