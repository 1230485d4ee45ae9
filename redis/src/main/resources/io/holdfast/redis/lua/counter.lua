-- The counter that the bases of tokens come from: one for a server, or one for each slot of a cluster.

local function number(value)
  return tonumber(value) or 0
end

-- Returns the base of the next hold's tokens: one more than the last of this counter, and at least the time, in 2^-18 s
-- since 2020. So bases grow while the clock does not, and when the counter was lost. A raise of the counter also adds
-- the time within its tick of 1/64 s. So a counter that is lost often, or two masters at once, do not give one base
-- twice. A value that tokens have no room for was written by another program, and counts as lost. Returns nil and a
-- type if the counter's key has another type.
-- KEYS[3] counter
local function nextBase()
  local base = redis.pcall('INCR', KEYS[3])
  if type(base) == 'table' then
    local kind = redis.call('TYPE', KEYS[3]).ok
    if kind ~= 'string' and kind ~= 'none' then
      return nil, kind
    end
    -- As INCR reads it. Lua also takes 1.5, 0x10 or 007 for a number.
    local last = number(string.match(redis.call('GET', KEYS[3]) or '', '^[1-9]%d*$'))
    if kind == 'none' or last >= 1 and last < 562949953421311 then
      error(base.err, 0)
    end
    base = 0
  end
  local floor = ((clock[1] - 1577836800) * 64 + math.floor(clock[2] / 15625)) * 4096
  if base < 1 or base < floor or base > 562949953421311 then
    base = math.max(1, floor + math.floor(clock[2] % 15625 * 2048 / 15625))
    redis.call('SET', KEYS[3], string.format('%.0f', base), 'PX', 86400000)
  elseif base - floor >= 262144 then
    -- The clock was set back: the counter must not expire before the clock has caught up.
    redis.call('PEXPIRE', KEYS[3], 86400000)
  end
  return base
end
