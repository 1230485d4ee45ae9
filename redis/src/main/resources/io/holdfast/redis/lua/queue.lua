-- The queue of a name; prepended to the scripts of locks and of pools, after counter.lua and push.lua or silent.lua.
--
-- KEYS[2] queue   sorted set, two members for each waiting holder id: the id, by its ticket, and right after it, by its
--                 ticket and a half, the stamp "ticket:stamp:poll:lease:nonce", stamp, poll and lease in ms, the
--                 stamp of server time; the nonce as its client sent it, or UNKNOWN. The stamp of a pool ends with
--                 ":weight:capacity".

-- The number of clients in the queue. A run asks once, when it first needs it: calls are most of a script's cost. Every
-- change of the queue updates it.
local size

local function queued()
  size = size or redis.call('ZCARD', KEYS[2]) / 2
  return size
end

-- Removes the id with this ticket from the queue.
local function remove(ticket)
  redis.call('ZREMRANGEBYSCORE', KEYS[2], ticket, ticket + 0.5)
  size = size and size - 1
end

-- Removes an id from the queue. Returns its ticket; false if it was not there.
local function leave(id)
  local ticket = redis.call('ZSCORE', KEYS[2], id)
  if ticket then
    remove(tonumber(ticket))
  end
  return ticket
end

-- Stands for the nonce of a client that must ask before it uses a grant. No nonce is negative.
local UNKNOWN = '-1'

-- Returns id, stamp and ticket of the first entry of the queue.
local function first()
  local entry = redis.call('ZRANGE', KEYS[2], 0, 1, 'WITHSCORES')
  return entry[1], entry[3], tonumber(entry[2])
end

-- Puts an id at the tail of the queue, or stamps its entry as alive. "absent": the id is known not to be in the queue.
-- "more": the end of its stamp, if there is more.
local function enqueue(id, lease, poll, nonce, absent, more)
  local fresh = queued() == 0
  local ticket = not fresh and not absent and redis.call('ZSCORE', KEYS[2], id)
  if ticket then
    ticket = tonumber(ticket)
    redis.call('ZREMRANGEBYSCORE', KEYS[2], ticket + 0.5, ticket + 0.5)
  else
    local last = fresh and {} or redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
    ticket = math.floor(number(last[2])) + 1
    size = size + 1
  end
  -- A client listens at one server. If it listens here now and at the grant, stamp and grant have the same clock.
  local asked = hears(id) == true and nonce or UNKNOWN
  redis.call('ZADD', KEYS[2], ticket, id, ticket + 0.5,
    string.format('%.0f:%.0f:%.0f:%.0f:%s', ticket, now, poll, lease, asked) .. (more or ''))
  -- Longer than any entry lives, and never shorter than another entry with a longer poll needs.
  local keep = 5 * poll + 60000
  local ends = (fresh or redis.call('PTTL', KEYS[2]) < keep) and redis.pcall('PEXPIRE', KEYS[2], keep)
  if type(ends) == 'table' then
    remove(ticket)
    error(ends.err, 0)
  end
end
