-- Sends messages to clients. Put before the other scripts where the server lets scripts publish; otherwise silent.lua
-- is.
--
-- Put before this script: GRANT, the command that sends a grant; and RELEASES, pairs of the command that announces a
-- release to Redisson and the subcommand of PUBSUB that counts its listeners.

local pushes = true

-- Whether the client of a holder id listens at this server: true, false, or 'unsure' where the question is forbidden.
-- True proves nothing. A client may hear a message without being counted, through another node of a cluster or a
-- replica.
local function hears(id)
  local client = string.match(id, '^(.*):') or id
  local listeners = redis.pcall('PUBSUB', GRANT == 'SPUBLISH' and 'SHARDNUMSUB' or 'NUMSUB', ARGV[1] .. client)
  return listeners.err and 'unsure' or listeners[2] ~= 0
end

-- Sends "<kind> <holder id> <text><lock>" to the client of a holder id. Where the server refuses to publish from a
-- script, the client finds out by its next poll. In a cluster a waiter listens at the lock's node, but a holder ("c")
-- at any node, and PUBLISH reaches all nodes.
local function tell(kind, id, text)
  local client = string.match(id, '^(.*):') or id
  local message = kind .. ' ' .. id .. ' ' .. text .. KEYS[1]
  if kind == 'c' then
    redis.pcall('PUBLISH', string.match(ARGV[1], '^[^{]*') .. client, message)
  else
    redis.pcall(GRANT, ARGV[1] .. client, message)
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

-- Tells Redisson's clients that the lock is free.
local function announce(channel)
  for _, release in ipairs(RELEASES) do
    redis.pcall(release[1], channel, '0')
  end
end

-- Whether this user's scripts may publish.
local function mayTell(channel)
  return type(redis.pcall('PUBLISH', channel, 'probe')) == 'number'
end
