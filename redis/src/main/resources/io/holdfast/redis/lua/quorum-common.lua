-- The functions that the scripts about one lock at a quorum's member share; prepended to each, after clock.lua and
-- holders.lua.
--
-- KEYS[1] lock      string: the id that holds, with an expiry. No key: free. Another program's SET NX lock counts, too.
-- KEYS[2] register  string: "token id", the largest token accepted for this lock; kept for a day.
-- KEYS[3] waiting   hash: client id -> "since:until", in ms of server time: the clients that wait for a release.
-- KEYS[4] sequence  string: "number id": how many exact settings the hold has seen; only after one.
-- KEYS[5] birth     string: "uuid:run id:from", for all locks: the life of this server's data, and the time from which
--                   it may vote, in ms of server time. Has no expiry. No key: the data were lost, or never there.
-- ARGV[1] the prefix of clients' channels. The client id follows it: a holder id up to its last colon
-- ARGV[2] the id, or the client id, that the call is about
--
-- Every result begins with the birth, and the number of ms for which the server must not vote yet.

local birth = redis.call('GET', KEYS[5]) or ''
local quarantine = math.max(0, (tonumber(string.match(birth, ':(%d+)$')) or 0) - now)

local function clientOf(id)
  return string.match(id, '^(.*):') or id
end

-- Returns the value of the lock key, to compare with ids; empty if the lock is free. A key of another type is another
-- program's.
local function holder()
  local held = redis.pcall('GET', KEYS[1])
  if type(held) == 'table' then
    local kind = redis.call('TYPE', KEYS[1]).ok
    if kind == 'string' or kind == 'none' then
      held = redis.call('GET', KEYS[1])
    else
      held = 'a ' .. kind
    end
  end
  return held or ''
end

-- Returns the holder for people; empty if the lock is free.
local function shown()
  local kind = redis.call('TYPE', KEYS[1]).ok
  return kind == 'none' and '' or (look(kind))
end

-- Returns how many exact settings the hold of this id has seen.
local function settings(id)
  local number, of = string.match(redis.call('GET', KEYS[4]) or '', '^(%d+) (.*)$')
  return of == id and tonumber(number) or 0
end

local function remember(sequence, id, lease)
  if sequence > 0 then
    redis.call('SET', KEYS[4], string.format('%.0f ', sequence) .. id, 'PX', lease)
  end
end

-- Writes a token if it is larger than the present one, or if this id wrote that. Returns 1 or 0, and the present token.
local function write(token, id)
  local number, by = string.match(redis.call('GET', KEYS[2]) or '', '^(%d+) (.*)$')
  local has = tonumber(number) or 0
  if has < token or (has == token and by == id) then
    redis.call('SET', KEYS[2], string.format('%.0f ', token) .. id, 'PX', 86400000)
    return 1, token
  end
  return 0, has
end

-- Returns the other waiting clients, the longest waiting first. Removes those that have not asked for too long.
local function waiting(client)
  local ids, since = {}, {}
  if redis.call('EXISTS', KEYS[3]) == 0 then
    return ids
  end
  local fields = redis.call('HGETALL', KEYS[3])
  for i = 1, #fields, 2 do
    local from, till = string.match(fields[i + 1], '^(%d+):(%d+)$')
    if not till or tonumber(till) <= now then
      redis.call('HDEL', KEYS[3], fields[i])
    elseif fields[i] ~= client then
      ids[#ids + 1] = fields[i]
      since[fields[i]] = tonumber(from)
    end
  end
  table.sort(ids, function(a, b)
    return since[a] < since[b] or (since[a] == since[b] and a < b)
  end)
  return ids
end

-- Sends "<kind> <detail> <lock>" to a client. Returns how many received it; 1 if the server refuses PUBLISH.
local function tell(client, kind, detail)
  local heard = redis.pcall('PUBLISH', ARGV[1] .. client, kind .. ' ' .. detail .. ' ' .. KEYS[1])
  return type(heard) == 'number' and heard or 1
end

-- Notifies the first three waiting clients, and passes over those that no longer listen.
local function wake()
  local rank = 0
  for _, client in ipairs(waiting('')) do
    if tell(client, 'r', rank) > 0 then
      rank = rank + 1
      if rank == 3 then
        return
      end
    else
      redis.call('HDEL', KEYS[3], client)
    end
  end
end
