-- Returns who holds the lock and how many clients wait.
--
-- Result  {birth, quarantine, remaining, token, its id, waiting, holder}; an empty holder: free

local token, by = string.match(redis.call('GET', KEYS[2]) or '', '^(%d+) (.*)$')
local held = shown()
return {
  birth, quarantine, held == '' and 0 or redis.call('PTTL', KEYS[1]), tonumber(token) or 0, by or '', #waiting(''), held
}
