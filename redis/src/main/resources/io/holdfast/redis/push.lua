-- What scripts tell clients. Put before the others where the server lets scripts publish; otherwise plain.lua is.

local pushes = true

-- Sends "<kind> <holder id> <text><lock>" to the client of a holder id. Returns how many heard it: 0 says that the client is
-- not there; 1 and more prove nothing. Where the server refuses to publish from a script, that counts as heard: the
-- client finds out by its next poll.
local function tell(kind, id, text)
  local client = string.match(id, '^(.*):') or id
  local heard = redis.pcall('PUBLISH', ARGV[1] .. client, kind .. ' ' .. id .. ' ' .. text .. KEYS[1])
  return type(heard) == 'number' and heard or 1
end

-- How many Redisson clients listen to each of these locks' channels: they wait, but not in our queue.
local function rivals(channels)
  local reply, counts = redis.pcall('PUBSUB', 'NUMSUB', unpack(channels)), {}
  for i = 1, #channels do
    counts[i] = tonumber(reply[2 * i]) or 0
  end
  return counts
end

-- Tells Redisson's clients that the lock is free.
local function announce(channel)
  redis.pcall('PUBLISH', channel, '0')
end

-- Whether this user's scripts may publish.
local function mayTell(channel)
  return type(redis.pcall('PUBLISH', channel, 'probe')) == 'number'
end
