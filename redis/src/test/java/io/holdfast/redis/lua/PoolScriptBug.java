package io.holdfast.redis.lua;

/** What could be wrong with the scripts of pools: a piece of their text, and what stands there instead. */
enum PoolScriptBug {
    NONE("", ""),

    /** A hold that expires keeps its weight. */
    WEIGHT_FORGOTTEN_AT_EXPIRY(
            "    finish(id)\n    count",
            "    redis.call('HDEL', KEYS[1], id)\n    redis.call('ZREM', KEYS[4], id)\n    count"),
    /** A waiter leaves, and the waiters behind it are not granted. */
    LEAVING_SERVES_NOBODY("if not leave(ARGV[1]) and not found then", "leave(ARGV[1])\nif not found then"),
    ASKER_SERVED_AND_THOSE_BEHIND_NOT("      mine = base\n", "      mine = base\n      break\n"),
    REMAINING_OF_MINUS_ONE("math.max(1, ends - now)", "-1"),
    EXPIRY_OF_THE_HASH_ONLY(", redis.pcall('PEXPIREAT', KEYS[4], late)}", "}"),
    EXPIRY_WITH_GT("redis.pcall('PEXPIREAT', KEYS[4], late)", "redis.pcall('PEXPIREAT', KEYS[4], late, 'GT')"),
    /** A renewal that is not the last to end shortens the life of the keys. */
    EXPIRY_GOES_BACK("if call('PTTL', keys[row]) < lease + 1000 then", "if true then"),
    EXPIRY_OF_THE_FIRST_ROW_ONLY("if call('PTTL', keys[row]) <", "if row == 1 and call('PTTL', keys[row]) <"),
    ROWS_SHIFTED("first = first + holds", "first = first + 1"),
    /** The keys expire at the end itself, while the other one may still be there. */
    EXPIRY_WITHOUT_MARGIN("string.format('%.0f', ends + 1000)", "string.format('%.0f', ends)"),
    SUM_KEPT_WHEN_ENDS_ARE_EVICTED("if (used > 0) ~= (id ~= nil) then", "if false then"),
    RELEASE_AGAIN_SUBTRACTS_AGAIN("""
                redis.call('ZREM', KEYS[4], id)
                return false
              end
            """, "    value = '1:b1'\n  end\n"),
    ABANDON_OF_A_WAITER_SUBTRACTS(
            "  if not value then\n",
            "  if not value and redis.call('ZSCORE', KEYS[2], id) then\n    value = '1:b1'\n  elseif not value then\n"),
    SMALL_OVERTAKES_LARGE("if not base and not unusable and queued() == 0 and", "if not base and not unusable and"),
    READER_PASSES_A_QUEUED_WRITER(
            "queued() == 0 and used + weight", "(queued() == 0 or weight < capacity) and used + weight"),
    SERVES_ONE("#grants == 64", "#grants == 1"),
    LIMIT_OF_THE_ASKER("if alive and used + w > c then", "if alive and used + w > (capacity or c) then"),
    LIMIT_IGNORED("if alive and used + w > c then", "if alive and used + w > c + 1 then"),
    /** A hold is removed in the millisecond before its end. */
    PURGE_TOO_EARLY("while id and ends <= now and", "while id and ends <= now + 1 and"),
    PURGE_TOO_LATE("while id and ends <= now and", "while id and ends < now and"),
    PURGE_SERVES_NOBODY("  if purged then\n    serve()\n  end\n", ""),
    PURGED_HOLD_IS_RENEWED("if not value or ends <= now then\n    return 0", "if not value then\n    return 0"),
    RENEWAL_REVIVES(
            "if not value or ends <= now then\n    return 0",
            "if not value and lease > 0 then\n    call('ZADD', keys[rows + row], now + lease, id)\n    return 0\n"
                    + "  elseif not value or ends <= now then\n    return 0"),
    RENEWAL_SHORTENS("exact and now + lease or math.max(ends, now + lease)", "now + lease"),
    OLD_RENEWAL_COUNTS("if sequence < seen then", "if false then"),
    SETTING_COUNTS_TWICE("elseif exact and sequence == seen then", "elseif false then"),
    SETTING_LOSES_THE_WEIGHT("string.match(value, '^%d+') .. ':s'", "'1:s'"),
    REPETITION_UNDOES_A_SETTING(
            "local lengthens = string.find(value, ':b', 1, true) and ends", "local lengthens = ends"),
    REPETITION_SHORTENS("string.find(value, ':b', 1, true) and ends < now + lease", "true"),
    WEIGHT_OF_THE_REPETITION(
            "reply = {1, now, base, queued()}",
            "used = used + weight\n  reply = {1, now, base, queued()}\n  redis.call('HSET', KEYS[1], 'used', used)"),
    DEAD_ENTRIES_ARE_GRANTED("return now - at <= 3 * poll, tonumber(weight)", "return true, tonumber(weight)"),
    DEAF_CLIENTS_ARE_GRANTED("not pushes or hears(id))", "true)"),
    LATE_ASKER_LOSES_ITS_PLACE("      alive, w, c = true, weight, capacity\n", "      w, c = weight, capacity\n"),
    LONG_FIRST_LEASE("length = math.min(length, 3 * poll)", "length = length"),
    GRANT_IS_NOT_SENT("for _, grant in ipairs(grants) do", "for _, grant in ipairs({}) do"),
    NOT_AFTER_IGNORED("if limit > 0 and now > limit then", "if false then"),
    REQUEUE_ALTHOUGH_GONE("if not found or ends <= now then", "if not requeue and (not found or ends <= now) then"),
    /** Only the first holder receives the message that a writer waits. */
    ONE_HOLDER_IS_TOLD("all and 63 or 1", "all and 0 or 1"),
    ALL_HOLDERS_ARE_TOLD("local all = weight == capacity", "local all = true"),
    FORCE_LEAVES_THE_ENDS(
            "redis.call('DEL', KEYS[1], KEYS[4])\n  used = 0\nelse", "redis.call('DEL', KEYS[1])\n  used = 0\nelse"),
    INSPECT_COUNTS_ENDED_HOLDS("if value and left <= 0 then", "if false then"),
    ENDED_HOLD_WAS_RELEASED("if not found or ends <= now then", "if not found then");

    private final String right;
    private final String wrong;

    PoolScriptBug(String right, String wrong) {
        this.right = right;
        this.wrong = wrong;
    }

    String in(String text) {
        return this == NONE ? text : text.replace(right, wrong);
    }
}
