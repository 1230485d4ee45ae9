package io.holdfast.redis.server;

import io.holdfast.spi.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * Maps lock names to Redis keys: the key is the name prefix, followed by the name. The prefix keeps locks apart from
 * the keys of the application and of other libraries.
 *
 * <p>The prefix is part of the stored format: clients that share locks have the same one.
 *
 * @param namePrefix the beginning of the keys of locks; may be empty, and may contain braces
 * @param internalPrefix the beginning of Holdfast's internal keys, before a colon
 */
public record LockKeys(String namePrefix, String internalPrefix) {

    /**
     * Returns the key of a lock.
     *
     * @throws StoreException if the key is among Holdfast's internal keys: the lock would make other locks unusable
     */
    public String of(String name) {
        String key = areNames() ? name : namePrefix.concat(name);
        if (isInternal(key, internalPrefix)) {
            // The internal prefix is longer: a name prefix that contains it is refused when a store is configured.
            String beginning = (internalPrefix + ":").substring(namePrefix.length());
            throw new StoreException(
                    StoreException.Outcome.FATAL,
                    "lock name: \"" + name + "\" stands for a key among Holdfast's internal ones"
                            + " (expected: a name that does not begin with \"" + beginning + "\")",
                    null);
        }
        return key;
    }

    /** Returns whether the key of each lock is its name. */
    public boolean areNames() {
        return namePrefix.isEmpty();
    }

    /** Returns the name of the lock with this key; null if no name has it. */
    @Nullable
    public String nameOf(String key) {
        return key.startsWith(namePrefix) ? key.substring(namePrefix.length()) : null;
    }

    /** Returns whether a key, or each key with this beginning, is among the internal keys. */
    static boolean isInternal(String key, String internalPrefix) {
        return key.startsWith(internalPrefix)
                && key.length() > internalPrefix.length()
                && key.charAt(internalPrefix.length()) == ':';
    }
}
