package io.holdfast.redis.server;

import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Builds the names of a lock's keys and channels. They are a stored format: clients of all versions must agree on it.
 *
 * <p>A "name" here, and in the stores that use this class, is the key of the lock: {@code KeyedStore} has put the name
 * prefix before it. Holdfast's internal keys of a lock are in the lock key's cluster slot:
 *
 * <ul>
 *   <li><code>prefix:kind::name</code> for a name with a tag of its own: the text between its first <code>{</code> and
 *       the next <code>}</code>, if that is not empty;
 *   <li><code>prefix:kind:{name}</code> for any other name without a <code>}</code>;
 *   <li><code>prefix:kind:{tag}:name</code> with the slot's tag for the rest (<code>a}b</code>, <code>a{}b</code>), see
 *       {@link #slotTag}.
 * </ul>
 */
public final class RedisKeys {

    /** The message that Redisson publishes when it releases a lock. */
    public static final String RELEASED = "0";

    private static final char POOL_HOLDS = 'h';

    private final String prefix;
    private final boolean countsPerSlot;

    /** How the key of a pool's holds begins, and no other key. */
    private final String poolHolds;

    private RedisKeys(String prefix, boolean countsPerSlot) {
        this.prefix = prefix;
        this.countsPerSlot = countsPerSlot;
        this.poolHolds = prefix + ":" + POOL_HOLDS + ":";
    }

    /** Returns the keys on a server that holds all of them: one counter of bases serves all locks. */
    public static RedisKeys ofServer(String prefix) {
        return new RedisKeys(prefix, false);
    }

    /**
     * Returns the keys in a cluster, where a script may not use keys of two slots: each slot has a counter of its own.
     */
    public static RedisKeys ofCluster(String prefix) {
        return new RedisKeys(prefix, true);
    }

    /** Returns lock, queue and counter: the {@code KEYS} of most scripts. */
    public String[] of(String name) {
        return new String[] {name, queue(name), counter(name)};
    }

    /** Returns the key of a lock's queue. */
    public String queue(String name) {
        return internal(name, 'q');
    }

    /** Returns holds, queue, counter and ends of a pool: the {@code KEYS} of most scripts of pools. */
    public String[] ofPool(String name) {
        return new String[] {poolHolds(name), poolQueue(name), counter(name), poolEnds(name)};
    }

    /** Returns the key of a pool's holds. Messages about the pool carry this key. */
    public String poolHolds(String name) {
        return internal(name, POOL_HOLDS);
    }

    public String poolEnds(String name) {
        return internal(name, 'e');
    }

    public String poolQueue(String name) {
        return internal(name, 'o');
    }

    /** Returns the key of the record of work that is done once under this lock. */
    public String record(String name) {
        return internal(name, 'r');
    }

    /** Returns the name of the pool with these holds; null if the key is another one, for example that of a lock. */
    @Nullable
    public String poolOf(String key) {
        if (!key.startsWith(poolHolds)) {
            return null;
        }
        String rest = key.substring(poolHolds.length());
        if (rest.startsWith(":")) {
            return rest.substring(1);
        }
        // As written by internal: the name in braces, or the slot's tag in braces, a colon, and the name.
        int close = rest.indexOf('}');
        if (!rest.startsWith("{") || close < 0) {
            return null;
        } else if (close == rest.length() - 1) {
            return rest.substring(1, close);
        }
        return rest.charAt(close + 1) == ':' ? rest.substring(close + 2) : null;
    }

    /** Returns the key of the counter that makes the bases of this lock. */
    public String counter(String name) {
        return countsPerSlot ? prefix + ":b:{" + slotTag(slot(name)) + "}" : prefix.concat(":b");
    }

    /** Returns lock, register, waiting, sequence and birth: the {@code KEYS} of most scripts of a quorum's member. */
    public String[] ofMember(String name) {
        return new String[] {name, internal(name, 'f'), internal(name, 'w'), internal(name, 'x'), birth()};
    }

    /** Returns the key, one for each server, that identifies the life of the server's data. */
    public String birth() {
        return prefix + ":birth";
    }

    /** Returns the key of a client's card. */
    public String card(String clientId) {
        return prefix + ":card:" + clientId;
    }

    /** Returns the key of the set that finds all cards. */
    public String cards() {
        return prefix + ":cards";
    }

    /** Returns three keys in one slot that no lock has: the kinds of a lock's keys are single letters. */
    public String[] probe(String clientId) {
        String start = prefix + ":probe:{" + clientId + "}:";
        return new String[] {start + 1, start + 2, start + 3};
    }

    private String internal(String name, char kind) {
        int open = name.indexOf('{');
        if (open >= 0 && name.indexOf('}', open + 1) > open + 1) {
            return prefix + ":" + kind + "::" + name;
        }
        return name.indexOf('}') < 0 && !name.isEmpty()
                ? prefix + ":" + kind + ":{" + name + "}"
                : prefix + ":" + kind + ":{" + slotTag(slot(name)) + "}:" + name;
    }

    /** Returns the beginning of the channels of all clients. */
    public String clientChannels() {
        return prefix + ":c:";
    }

    /** Returns the channel on which Redisson announces the release of a lock. The rule is Redisson's. */
    public static String redissonChannel(String name) {
        return name.indexOf('{') < 0 ? "redisson_lock__channel:{" + name + "}" : "redisson_lock__channel:" + name;
    }

    /**
     * Returns the cluster slot of a key or a sharded channel. The driver's own method for texts encodes them in the
     * platform's charset on Java 17.
     */
    public static int slot(String key) {
        return SlotHash.getSlot(key.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Returns a short tag for a cluster slot: the first number, counted from zero and written in base 36, that falls
     * into the slot.
     */
    public static String slotTag(int slot) {
        return SlotTags.TAGS[slot];
    }

    /** Built at the first use of this class, in some ten milliseconds: few names need it. */
    private static final class SlotTags {

        static final String[] TAGS = new String[SlotHash.SLOT_COUNT];

        static {
            int missing = TAGS.length;
            for (int number = 0; missing > 0; number++) {
                String tag = Integer.toString(number, 36);
                int slot = slot(tag);
                if (TAGS[slot] == null) {
                    TAGS[slot] = tag;
                    missing--;
                }
            }
        }
    }
}
