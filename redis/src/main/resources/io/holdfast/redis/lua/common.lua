-- The functions that the scripts of locks share; prepended to each, after clock.lua, push.lua or silent.lua,
-- counter.lua and queue.lua. Keys are written out with their number, and lists are not spread into arguments: some
-- services check that before they run a script.
--
-- KEYS[1] lock    hash: holder id -> "b<base>", or "s<settings>:<base>" after exact settings of its length, with their
--                 number. The base is that of its tokens. The value is no number: a release of Redisson's read lock
--                 counts down from each number in the hash, and the server would do nothing else for days.
--                 No such key: free. Redisson's locks live under the same key, as fields "<uuid>:<thread id>".
-- KEYS[2] queue   see queue.lua. Never contains the holder.
-- KEYS[3] counter integer: the last base of all locks that share it. In a cluster, of those of one slot.
-- ARGV[1] the holder id that the call is about
--
-- Times are the server's. Lua's numbers are exact to 2^53; only '%.0f' prints all their digits. A server
-- short of memory refuses HSET, ZADD and SET. Each of these comes after a DEL or HDEL, or before any other write. No
-- key that a run has made stays without expiry. If the server refuses PEXPIRE (rights can change at run time), the
-- script undoes its write by a command of the same kind, and ends with the server's error.

-- Returns the base in a holder's field.
local function baseIn(value)
  return number(string.match(value, '%d+$'))
end

-- The number of clients that wait at Redisson. A run asks once, when it first needs it.
local theirs

local function rivalry()
  theirs = theirs or rivals({releasesOf(KEYS[1])})[1] or 0
  return theirs
end

-- Returns how many clients wait behind the holder, in the queue and at Redisson.
local function waiting()
  return queued() + rivalry()
end

-- Makes an id the holder of the free lock. Returns the base.
local function hold(id, lease, base)
  local text = string.format('%.0f', base)
  redis.call('HSET', KEYS[1], id, 'b' .. text)
  local ends = redis.pcall('PEXPIRE', KEYS[1], lease)
  if type(ends) == 'table' then
    redis.call('HDEL', KEYS[1], id)
    error(ends.err, 0)
  end
  return base
end

-- Returns what is in the stamp of an entry: whether it is alive, poll, lease, nonce, ms since the stamp. An entry whose
-- client has missed three polls is dead.
local function read(stamp)
  local at, poll, lease, nonce = string.match(stamp or '', '^%d+:(%d+):(%d+):(%d+):([-%w]+)$')
  if not at then
    return false, 0, 0, UNKNOWN, 0
  end
  return now - at <= 3 * poll, tonumber(poll), tonumber(lease), nonce, math.max(0, now - at)
end

-- Gives the free lock to the first live entry of the queue whose client listens. The first lease is short: if the
-- client does not use it, the clients behind it do not wait for long. Stops at the asker, which needs no message: the
-- reply serves it. Returns the id whose turn it is, and the length of its lease if a message was sent; or nil. The
-- message is "g <id> <base> <waiting> <lease> <nonce> <ms since the stamp> <lock>". "behind" is the number of
-- clients that wait and are not in the queue yet. If no listening client is left, the lock stays free for the first
-- that asks: a client that misses the message would notice its grant only at its next poll.
local function passOn(asker, behind)
  while pushes and queued() > 0 do
    local id, stamp, ticket = first()
    if not id or id == asker then
      return id
    end
    local alive, poll, lease, nonce, since = read(stamp)
    local there = alive and hears(id)
    local base = there and nextBase()
    if there and not base then
      -- The counter is of another type. Each client that asks gets this error, and the queue is kept.
      return nil
    end
    remove(ticket)
    if base then
      local length = math.min(lease, 3 * poll)
      -- A client that may hear this through another server must ask.
      local asked = there == 'unsure' and UNKNOWN or nonce
      local text = string.format('%.0f %.0f %.0f %s %.0f ', base, waiting() + behind, length, asked, since)
      -- In this order: what the message says is relied on, and the write may fail while the slot moves.
      hold(id, length, base)
      tell('g', id, text)
      return id, length
    end
  end
end

-- Whether a lock that becomes free goes to the clients that wait at Redisson this time. They are not in the queue, so
-- they get a random share in proportion to their number; the random number is the clock's microseconds.
local function yields(ours)
  return rivalry() > 0 and clock[2] % (ours + rivalry()) < rivalry()
end

-- Returns the first live entry of the queue, or an empty string.
local function head()
  local id, stamp, ticket = first()
  while id and not read(stamp) do
    remove(ticket)
    id, stamp, ticket = first()
  end
  return id or ''
end

-- The time in ms for which a free lock is left to Redisson: about as long as a client of ours keeps it while others
-- wait.
local turn = 10

-- The number of Redisson clients that received the release, if the lock was left free.
local heard = 0

-- Leaves the free lock to the clients that wait at Redisson. The first clients of the queue receive "y <id> <ms>
-- <lock>": they ask after that time, and so find out whose releases to listen to. Redisson does not know the queue.
local function leaveFree()
  heard = announce(releasesOf(KEYS[1]))
  if queued() > 0 and head() ~= '' then
    local entries = redis.call('ZRANGE', KEYS[2], 0, 5)
    for i = 1, #entries, 2 do
      tell('y', entries[i], turn .. ' ')
    end
  end
end

-- Returns whether the lock is free after the field of its holder was deleted; it nearly always is. Other fields of the
-- hash are another program's data, which must not end when our hold would have. The expiry is removed, because the one
-- before our hold is unknown. Only a read-write lock of Redisson, which has a field "mode", has set and needs its
-- expiry.
local function isFree()
  if redis.call('EXISTS', KEYS[1]) == 0 then
    return true
  end
  if not redis.call('HGET', KEYS[1], 'mode') then
    redis.call('PERSIST', KEYS[1])
  end
  return false
end

-- Passes the lock on, which has just become free, or leaves it free. Returns the id that the caller should notify;
-- empty for none.
local function vacate()
  if not pushes then
    return head()
  end
  if queued() == 0 or yields(queued()) or not passOn(nil, 0) then
    leaveFree()
  end
  return ''
end

-- Ends the hold of an id. Returns whether it held the lock; a key of another type is somebody else's.
local function ended(id)
  local deleted = redis.pcall('HDEL', KEYS[1], id)
  if type(deleted) == 'table' and redis.call('TYPE', KEYS[1]).ok == 'hash' then
    error(deleted.err, 0)
  end
  return deleted == 1
end
