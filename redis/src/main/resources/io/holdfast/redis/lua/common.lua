-- What the scripts share. Put before each of them when it is loaded, after push.lua or silent.lua. Keys are written out
-- with their number, and lists are not spread into arguments: some services check that before they run a script.
--
-- KEYS[1] lock    hash: holder id -> "b" and the base of its tokens. Not a number: a release of Redisson's read lock
--                 counts down from each number in the hash, which would block the server for days.
--                 "~seq" -> the number of exact settings, only after one.
--                 No key: free. Redisson's locks are in the same key, as fields "<uuid>:<thread id>".
-- KEYS[2] queue   sorted set: waiting holder id -> ticket. Never contains the holder.
-- KEYS[3] stamps  hash: waiting holder id -> "stamp:poll:lease:repetition", the first three in ms, the stamp of server
--                 time. Contains exactly the ids of the queue.
-- KEYS[4] base    string: the last base, kept for a day. A key of its own, because Redisson deletes the lock key.
-- ARGV[1] the beginning of clients' channels; the rest is the client id: a holder id up to its last colon. In a
--         cluster it ends in "{tag}:", which puts the channels of grants into the lock's slot
-- ARGV[2] the channel on which Redisson announces the release of this lock
-- ARGV[3] the holder id that the call is about
--
-- The time is the server's. Lua's numbers are exact to 2^53; as text, only '%.0f' shows all their digits. A server
-- short of memory refuses HSET, ZADD and SET. Each of these comes after a DEL or HDEL, or before any other write. No
-- key that a run has made stays without expiry. If the server refuses PEXPIRE (rights can change at run time), the
-- script undoes its write by a command of the same kind, and ends with the server's error.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)

local function number(value)
  return tonumber(value) or 0
end

-- Returns the base in a holder's field.
local function baseIn(value)
  return number(string.match(value, '%d+'))
end

-- The number of clients in the queue, and of those that wait at Redisson. A run asks for each once, when it first needs
-- it: calls are most of a script's cost. Every change of the queue updates its number.
local size, theirs

local function queued()
  size = size or redis.call('ZCARD', KEYS[2])
  return size
end

local function rivalry()
  theirs = theirs or rivals({ARGV[2]})[1] or 0
  return theirs
end

-- Returns how many clients wait behind the holder, in the queue and at Redisson.
local function waiting()
  return queued() + rivalry()
end

-- Returns the base of the next hold's tokens, in sixteenths of a ms of server time. So bases grow even if the last one
-- was lost; and it is larger than the last one, so bases grow even if the clock does not. A last base that tokens have
-- no room for was written by another program, and counts as lost.
local function nextBase()
  local last = number(redis.pcall('GET', KEYS[4]))
  if not (last >= 1 and last < 140737488355327) then
    last = 0
  end
  return math.max(math.floor(last) + 1, clock[1] * 16000 + math.floor(clock[2] * 2 / 125))
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
  redis.call('SET', KEYS[4], text, 'PX', 86400000)
  return base
end

local function leave(id)
  if redis.call('ZREM', KEYS[2], id) == 1 then
    redis.call('HDEL', KEYS[3], id)
    size = size and size - 1
  end
end

-- Stands for the repetition of a client that must ask before it uses a grant. No client ever asks this often.
local UNKNOWN = '999999999999999'

-- Reads the stamp of an entry: alive, poll, lease, repetition, ms since the stamp. An entry is dead if its client has
-- missed three polls, or if it has no stamp.
local function read(stamp)
  local at, poll, lease, repetition = string.match(stamp or '', '^(%d+):(%d+):(%d+):(%d+)$')
  if not at then
    return false, 0, 0, UNKNOWN, 0
  end
  return now - at <= 3 * poll, tonumber(poll), tonumber(lease), repetition, math.max(0, now - at)
end

-- Puts an id at the tail of the queue, or stamps its entry as alive. "absent": the caller knows that there is no entry.
local function enqueue(id, lease, poll, repetition, absent)
  local fresh = queued() == 0
  if fresh or absent or not redis.call('ZSCORE', KEYS[2], id) then
    local last = fresh and {} or redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
    redis.call('ZADD', KEYS[2], number(last[2]) + 1, id)
    size = size + 1
  end
  -- A client listens at one server. If it listens here now and at the grant, stamp and grant have the same clock.
  local asked = hears(id) == true and repetition or UNKNOWN
  redis.call('HSET', KEYS[3], id, string.format('%.0f:%.0f:%.0f:%s', now, poll, lease, asked))
  -- Longer than any entry lives. Never shortened: another entry may have a longer poll.
  local keep = 5 * poll + 60000
  local ends = (fresh or redis.call('PTTL', KEYS[2]) < keep) and redis.pcall('PEXPIRE', KEYS[2], keep)
  if type(ends) ~= 'table' then
    ends = (fresh or redis.call('PTTL', KEYS[3]) < keep) and redis.pcall('PEXPIRE', KEYS[3], keep)
  end
  if type(ends) == 'table' then
    leave(id)
    error(ends.err, 0)
  end
end

-- Gives the free lock to the first live entry of the queue whose client listens. The first lease is short: if the
-- client does not use it, the clients behind it do not wait for long. Stops at the asker, which needs no message: the
-- reply serves it. Returns the id whose turn it is, and the length of its lease if a message was sent; or nil. The
-- message is "g <id> <base> <waiting> <lease> <repetition> <ms since the stamp> <lock>". "behind" is the number of
-- clients that wait and are not in the queue yet. If no listening client is left, the lock stays free for the first
-- that asks: a client that misses the message would notice its grant only at its next poll.
local function passOn(asker, behind)
  while pushes and queued() > 0 do
    local id = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
    if id == asker then
      return id
    end
    local alive, poll, lease, repetition, since = read(redis.call('HGET', KEYS[3], id))
    leave(id)
    local there = alive and hears(id)
    if there then
      local first, base = math.min(lease, 3 * poll), nextBase()
      -- A client that may hear this through another server must ask.
      local asked = there == 'unsure' and UNKNOWN or repetition
      local text = string.format('%.0f %.0f %.0f %s %.0f ', base, waiting() + behind, first, asked, since)
      -- In this order: the client relies on the message, and the write may fail while the slot moves.
      hold(id, first, base)
      tell('g', id, text)
      return id, first
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
  local id = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
  while id and not read(redis.call('HGET', KEYS[3], id)) do
    leave(id)
    id = redis.call('ZRANGE', KEYS[2], 0, 0)[1]
  end
  return id or ''
end

-- The time in ms for which a free lock is left to Redisson: about as long as a client of ours keeps it while others
-- wait.
local turn = 10

-- Leaves the free lock to the clients that wait at Redisson. The first clients of the queue receive "y <id> <ms>
-- <lock>". They ask when that time is over, and so find out whose releases to listen to. Redisson does not know the
-- queue.
local function leaveFree()
  announce(ARGV[2])
  if queued() > 0 and head() ~= '' then
    for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, 2)) do
      tell('y', id, turn .. ' ')
    end
  end
end

-- Ends the hold of an id that holds. Other fields of the hash are another program's data, which must not expire with
-- our hold: the key loses its expiry, because the original one is unknown. Returns whether the lock is free, as it
-- nearly always is.
local function ended(id)
  redis.call('HDEL', KEYS[1], id, '~seq')
  if redis.call('HLEN', KEYS[1]) == 0 then
    return true
  end
  redis.call('PERSIST', KEYS[1])
  return false
end

-- Passes on the lock, which has just become free, or leaves it free. Returns the holder id that the caller should
-- notify, or an empty string.
local function vacate()
  if not pushes then
    return head()
  end
  if queued() == 0 or yields(queued()) or not passOn(nil, 0) then
    leaveFree()
  end
  return ''
end

-- Whether the id holds the lock. A key of another type belongs to another program.
local function holds(id)
  local held = redis.pcall('HEXISTS', KEYS[1], id)
  if type(held) == 'table' and redis.call('TYPE', KEYS[1]).ok == 'hash' then
    held = redis.call('HEXISTS', KEYS[1], id)
  end
  return held == 1
end
