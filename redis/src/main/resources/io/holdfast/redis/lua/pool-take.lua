-- What an acquire and a release that queues again have in common, for a pool.

-- Serves the queue and, in its turn, the asker, which holds nothing. Returns the base if the asker was granted.
local function take(id, lease, weight, capacity)
  purge()
  local base = serve(id, lease, weight, capacity)
  if not base and not unusable and queued() == 0 and used + weight <= capacity then
    base, unusable = nextBase()
    if base then
      hold(id, weight, lease, base)
    end
  end
  return base
end

-- Returns the rest of a reply that says "busy": {…, now, remaining, ahead, kind, holder}. Puts the id into the queue if
-- "poll" is there. The holder is the one whose hold ends first.
local function busy(code, id, lease, poll, nonce, weight, capacity)
  local rank = queued() > 0 and redis.call('ZRANK', KEYS[2], id)
  -- Dead entries at the head are gone. A waiter needs to know only whether a live entry is before it.
  local before = rank and rank / 2 or queued()
  if poll then
    local alone = queued() == 0
    enqueue(id, lease, tonumber(poll), nonce, not rank, string.format(':%.0f:%.0f', weight, capacity))
    if alone then
      -- A request for all waits for each holder, as a writer for readers; any other waits for the first to end.
      local all = weight == capacity
      local holders = redis.call('ZRANGE', KEYS[4], 0, all and 63 or 1)
      if all or #holders == 1 then
        for _, holder in ipairs(holders) do
          tell('c', holder, '')
        end
      end
    end
  end
  local holder, ends = soonest()
  if not holder then
    -- Very many dead entries are before it. The next request goes on.
    holder, ends = first() or '', now
  end
  return {code, now, math.max(1, ends - now), before, 0, holder}
end
