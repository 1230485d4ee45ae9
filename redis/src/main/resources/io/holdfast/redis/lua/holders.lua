-- Reads the key of a lock, and decides what of it people see. Prepended to the scripts that show a holder.
--
-- Invariant: of data that is no lock, only type and size are shown. It belongs to the application, and may be a secret.

-- Returns whether a text is a holder id of Holdfast: "hf-<client>:<number>", and "~<round>" at a quorum's member.
local function isOurs(text)
  return string.find(text, '^hf%-[%w_%-]+:%w+$') or string.find(text, '^hf%-[%w_%-]+:%w+~%w+$')
end

-- Returns whether a field is a hold of Redisson: "<uuid>:<thread id>", for a write lock with ":write" after it.
local function isRedissons(field)
  local rest = string.match(field, '^%x+%-%x+%-%x+%-%x+%-%x+:%d+(.*)$')
  return rest == '' or rest == ':write'
end

-- Returns, for a lock key of this type: the holder to show, the value of that holder's field, and whether all of the
-- key is a lock, so that force may delete it. A string with an expiry counts as a hand-written lock.
local function look(kind)
  if kind == 'string' then
    local value = redis.call('GET', KEYS[1]) or ''
    -- In mode commands, the number of a change may follow the id.
    local id = string.match(value, '^([^#]+)#%d+$') or value
    if isOurs(id) then
      return id, nil, true
    elseif redis.call('PTTL', KEYS[1]) >= 0 then
      return 'a string of ' .. #value .. ' bytes with an expiry', nil, true
    end
  elseif kind == 'hash' and redis.call('HLEN', KEYS[1]) <= 64 then
    -- A hash with more fields is no lock, and is not read as a whole.
    local fields, holder, value, other = redis.call('HGETALL', KEYS[1]), nil, nil, false
    for i = 1, #fields, 2 do
      if not isOurs(fields[i]) and not isRedissons(fields[i]) then
        other = other or fields[i] ~= 'mode'
      elseif not holder then
        holder, value = fields[i], fields[i + 1]
      end
    end
    if holder then
      return holder, value, not other
    end
  end
  return 'a ' .. kind .. ' that is no lock', nil, false
end
