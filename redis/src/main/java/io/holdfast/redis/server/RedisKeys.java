package io.holdfast.redis.server;

import io.holdfast.redis.KeyedStore;
import io.lettuce.core.cluster.SlotHash;
import java.nio.charset.StandardCharsets;

/**
 * The names of a lock's keys and channels. This is a stored format: clients of all versions must agree on it.
 *
 * <p>What is called a name here, and in the stores that use this, is the key of the lock: {@link KeyedStore} has put the
 * name prefix before it. Holdfast's internal keys are {@code <prefix>:{<tag>}:<kind>:<name>}, where the tag puts them into
 * the lock key's cluster slot:
 *
 * <ul>
 *   <li>the name's own tag (between its first <code>{</code> and the next <code>}</code>), if it has one that is not
 *       empty;
 *   <li>otherwise the whole name decides its slot, and is the tag itself unless it contains a <code>}</code>;
 *   <li>otherwise (<code>a}b</code>, <code>a{}b</code>) the slot's tag in {@link SlotTags}.
 * </ul>
 */
public final class RedisKeys {

    /** What Redisson publishes when it releases a lock. */
    public static final String RELEASED = "0";

    private final String prefix;

    public RedisKeys(String prefix) {
        this.prefix = prefix;
    }

    /** Lock, queue, stamps and base: the {@code KEYS} of most scripts. */
    public String[] of(String name) {
        String start = prefix + ":{" + tag(name) + "}:";
        return new String[] {name, start + "q:" + name, start + "s:" + name, start + "b:" + name};
    }

    /** The key of a lock's queue alone. */
    public String queue(String name) {
        return prefix + ":{" + tag(name) + "}:q:" + name;
    }

    /** The key of the last base that a script gave. */
    public String base(String name) {
        return prefix + ":{" + tag(name) + "}:b:" + name;
    }

    /** The key of the stream whose ids are bases, in the mode without scripts. */
    public String stream(String name) {
        return prefix + ":{" + tag(name) + "}:t:" + name;
    }

    /** At a quorum's member: lock, register, waiting, sequence and birth, the {@code KEYS} of most of its scripts. */
    public String[] ofMember(String name) {
        String start = prefix + ":{" + tag(name) + "}:";
        return new String[] {name, start + "f:" + name, start + "w:" + name, start + "x:" + name, birth()};
    }

    /** The key, one for each server, that names the life of its data. */
    public String birth() {
        return prefix + ":birth";
    }

    /** Three keys in one slot that no lock has: the next part after a tag is always one letter there. */
    public String[] probe(String clientId) {
        String start = prefix + ":{" + clientId + "}:probe:";
        return new String[] {start + 1, start + 2, start + 3};
    }

    /** What the channels of all clients begin with. */
    public String clientChannels() {
        return prefix + ":c:";
    }

    /** The channel on which Redisson announces the release of a lock. The rule is Redisson's. */
    public static String redissonChannel(String name) {
        return name.indexOf('{') < 0 ? "redisson_lock__channel:{" + name + "}" : "redisson_lock__channel:" + name;
    }

    /**
     * The cluster slot of a key or a sharded channel. The driver's own method for a text encodes it as the locale says, on
     * Java 17.
     */
    public static int slot(String key) {
        return SlotHash.getSlot(key.getBytes(StandardCharsets.UTF_8));
    }

    private static String tag(String name) {
        int open = name.indexOf('{');
        if (open >= 0) {
            int close = name.indexOf('}', open + 1);
            if (close > open + 1) {
                return name.substring(open + 1, close);
            }
        }
        return name.indexOf('}') < 0 && !name.isEmpty() ? name : SlotTags.of(slot(name));
    }
}
