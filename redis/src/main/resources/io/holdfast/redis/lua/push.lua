-- Functions that notify clients; prepended to the scripts if scripts may publish, otherwise silent.lua is.
--
-- Prepended to this: CHANNELS, the prefix of clients' channels; TAGGED, whether the tag of the lock's slot follows the
-- prefix, as in a cluster; GRANT, the command that sends a grant; and RELEASES, pairs of the command that announces a
-- release to Redisson and the subcommand of PUBSUB that counts the listeners.

local pushes = true

-- Returns the channel of the client of a holder id. In a cluster it is in the lock's slot, as the counter's key is.
local function channelOf(id)
  local client = string.match(id, '^(.*):') or id
  return CHANNELS .. (TAGGED and string.match(KEYS[3], '{[^}]*}$') .. ':' or '') .. client
end

-- Returns the channel on which Redisson announces the release of a lock.
local function releasesOf(lock)
  return 'redisson_lock__channel:' .. (string.find(lock, '{', 1, true) and lock or '{' .. lock .. '}')
end

-- Returns whether the client of a holder id listens at this server: true, false, or 'unsure' if the server refuses the
-- question. True proves nothing. A client may receive a message without being counted, through another node of a
-- cluster or a replica.
local function hears(id)
  local listeners = redis.pcall('PUBSUB', GRANT == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', channelOf(id))
  return listeners.err and 'unsure' or listeners[2] ~= 0
end

-- Sends "<kind> <holder id> <text><lock>" to the client of a holder id. Where the server refuses to publish from a
-- script, the client finds out by its next poll. In a cluster a waiter listens at the lock's node, but a holder ("c",
-- "f") at any node, and PUBLISH reaches all nodes.
local function tell(kind, id, text)
  local message = kind .. ' ' .. id .. ' ' .. text .. KEYS[1]
  if kind == 'c' or kind == 'f' then
    redis.pcall('PUBLISH', CHANNELS .. (string.match(id, '^(.*):') or id), message)
  else
    redis.pcall(GRANT, channelOf(id), message)
  end
end

-- Returns how many Redisson clients listen to each of these channels. They wait, but not in our queue.
local function rivals(channels)
  local counts = {}
  for _, release in ipairs(RELEASES) do
    local reply = redis.pcall('PUBSUB', release[2], unpack(channels))
    for i = 1, #channels do
      counts[i] = (counts[i] or 0) + (tonumber(reply[2 * i]) or 0)
    end
  end
  return counts
end

-- Tells Redisson's clients that the lock is free. Returns how many received it.
local function announce(channel)
  local heard = 0
  for _, release in ipairs(RELEASES) do
    heard = heard + (tonumber(redis.pcall(release[1], channel, '0')) or 0)
  end
  return heard
end

-- Returns whether this user's scripts may publish.
local function mayTell(channel)
  return type(redis.pcall('PUBLISH', channel, 'probe')) == 'number'
end
