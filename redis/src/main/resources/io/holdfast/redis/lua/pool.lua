-- The functions that the scripts of pools share; prepended to each, after clock.lua, push.lua or silent.lua,
-- counter.lua and queue.lua. See common.lua for times, numbers and keys.
--
-- A pool is a name that several holder ids hold at a time, each with a weight. All entries, holders and waiters, are in
-- the order of their tickets. An entry fits if the weights up to and including its own are at most the capacity of its
-- own request. It holds when it and every entry before it fit. So nothing overtakes, and an entry that holds keeps its
-- hold: newer entries come behind it, and older ones only go.
--
-- KEYS[1] holds   hash: holder id -> "<weight>:b<base>", or "<weight>:s<settings>:<base>" after exact settings of the
--                 hold's length, with their number; and "used" -> the sum of the weights.
-- KEYS[2] queue   see queue.lua. Never contains a holder.
-- KEYS[3] counter as that of locks, and the same.
-- KEYS[4] ends    sorted set: holder id -> the time at which its hold ends. A hold whose time has passed has ended,
--                 though its weight counts until a run removes it.
--
-- Invariants, after each run:
-- I5  "used" is the sum of the weights in the hash, and hash and ends have the same ids; unless the server evicted one
--     of the two keys. The next run that counts then deletes the other, as an evicted lock is forgotten.
-- I6  No key is without expiry. Hash and ends expire together, a second after the latest end of their holds or later.
--     So a pool whose holders have all died leaves nothing.
--
-- A server short of memory refuses HSET and ZADD only as the first write of a run: HDEL comes first in a release and a
-- renewal, INCR in an acquire.

-- The sum of the weights. A run reads it once, in purge; every change updates it.
local used

-- Returns the id whose hold ends first, and when; nil if there is none.
local function soonest()
  local entry = redis.call('ZRANGE', KEYS[4], 0, 0, 'WITHSCORES')
  return entry[1], tonumber(entry[2])
end

-- Returns the base in an id's field.
local function baseIn(value)
  return number(string.match(value, '%d+$'))
end

-- Removes the hold of an id, whether its time has passed or not. Its weight is that of the hold, not of the call.
-- Returns whether there was one.
local function finish(id)
  local value = redis.call('HGET', KEYS[1], id)
  if not value then
    redis.call('ZREM', KEYS[4], id)
    return false
  end
  local rest = (used or number(redis.call('HGET', KEYS[1], 'used'))) - number(string.match(value, '^%d+'))
  if rest > 0 then
    redis.call('HDEL', KEYS[1], id)
    redis.call('HSET', KEYS[1], 'used', rest)
  else
    redis.call('HDEL', KEYS[1], id, 'used')
  end
  redis.call('ZREM', KEYS[4], id)
  used = used and math.max(0, rest)
  return true
end

-- Removes the holds whose time has passed, at most 64 of them, and reads the sum of the weights. Of more such holds the
-- next run removes the rest, and the sum is too high until then. Returns whether it removed any. Does nothing if called again.
local function purge()
  if used then
    return false
  end
  local count, id, ends = 0, soonest()
  while id and ends <= now and count < 64 do
    finish(id)
    count = count + 1
    id, ends = soonest()
  end
  used = number(redis.call('HGET', KEYS[1], 'used'))
  if (used > 0) ~= (id ~= nil) then
    -- One of the two keys was evicted. Nobody could tell when these holds end.
    redis.call('DEL', KEYS[1], KEYS[4])
    used = 0
  end
  return count > 0
end

-- Lets hash and ends live until a second after this time, or longer as before. Returns the server's refusal, or nil.
-- "fresh": the keys are known to be new.
local function keep(ends, fresh)
  local late, left = string.format('%.0f', ends + 1000), fresh and -1 or redis.pcall('PTTL', KEYS[1])
  if type(left) == 'table' then
    return left
  elseif left >= ends + 1000 - now then
    return nil
  end
  for _, kept in ipairs({redis.pcall('PEXPIREAT', KEYS[1], late), redis.pcall('PEXPIREAT', KEYS[4], late)}) do
    if type(kept) == 'table' then
      return kept
    end
  end
end

-- Makes an id a holder.
local function hold(id, weight, lease, base)
  redis.call('HSET', KEYS[1], id, string.format('%.0f:b%.0f', weight, base), 'used', used + weight)
  used = used + weight
  local added = redis.pcall('ZADD', KEYS[4], now + lease, id)
  local refusal = type(added) == 'table' and added or keep(now + lease, used == weight)
  if refusal then
    finish(id)
    error(refusal.err, 0)
  end
end

-- Returns what is in the stamp of an entry of a pool: whether it is alive, its weight and capacity, poll, lease, nonce,
-- and ms since the stamp. An entry whose client has missed three polls is dead.
local function read(stamp)
  local at, poll, lease, nonce, weight, capacity =
    string.match(stamp or '', '^%d+:(%d+):(%d+):(%d+):([-%w]+):(%d+):(%d+)$')
  if not at then
    return false, 0, 0, 0, 0, UNKNOWN, 0
  end
  return now - at <= 3 * poll, tonumber(weight), tonumber(capacity), tonumber(poll), tonumber(lease), nonce,
    math.max(0, now - at)
end

-- The messages about grants that this run has to send, and the type of the counter's key if that is no counter.
local grants, unusable = {}, nil

-- Gives what is free to the first entries of the queue, each by the weight and the capacity of its own request. Stops
-- at the first live entry that does not fit. An entry that is dead, or would be granted and does not listen, leaves the
-- queue: see passOn in common.lua. The first lease is short, as there. If the asker's turn comes, it is alive whatever
-- its stamp says, and gets its full lease and no message; those behind it are then served, too.
--
-- Returns the base if the asker was granted. Where scripts may not publish, nobody is served without an asker, and
-- those before it find out by their polls; returns nil and the id that the caller should notify, or an empty string.
local function serve(asker, lease, weight, capacity)
  local mine
  if queued() > 0 then
    purge()
  end
  -- More entries in one run would delay the server's other clients noticeably. The next run goes on.
  for _ = 1, 256 do
    if queued() == 0 or #grants == 64 then
      break
    end
    local id, stamp, ticket = first()
    local alive, w, c, poll, length, nonce, since = read(stamp)
    if id == asker then
      alive, w, c = true, weight, capacity
    end
    if alive and used + w > c then
      break
    elseif alive and not pushes and not asker then
      return nil, id
    end
    local there = alive and (id == asker or not pushes or hears(id))
    local base, kind
    if there then
      base, kind = nextBase()
      if not base then
        -- Each client that asks gets this error, and the queue is kept.
        unusable = kind
        break
      end
    end
    remove(ticket)
    if id == asker then
      hold(id, w, lease, base)
      mine = base
    elseif base then
      length = math.min(length, 3 * poll)
      hold(id, w, length, base)
      -- A client that may hear this through another server must ask.
      grants[#grants + 1] = {id, base, length, there == 'unsure' and UNKNOWN or nonce, since}
    end
  end
  return mine, ''
end

-- Notifies the clients that this run has granted to. At its end, because each message says how many wait then.
local function report()
  for _, grant in ipairs(grants) do
    tell('g', grant[1],
      string.format('%.0f %.0f %.0f %s %.0f ', grant[2], queued(), grant[3], grant[4], grant[5]))
  end
end
