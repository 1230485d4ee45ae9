package io.holdfast.redis.server;

import io.holdfast.spi.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * Says which Redis key a lock name stands for: the name prefix, followed by the name. The prefix keeps locks apart from the
 * keys of the application and of other libraries.
 *
 * <p>Part of the stored format: clients that share locks have the same prefix.
 *
 * @param namePrefix what the keys of locks begin with; may be empty, and may contain braces
 * @param internalPrefix what Holdfast's internal keys begin with, before a colon
 */
public record LockKeys(String namePrefix, String internalPrefix) {

    /**
     * Returns the key of a lock.
     *
     * @throws StoreException if that is where Holdfast's internal keys are: the lock would make other locks unusable
     */
    public String of(String name) {
        String key = namePrefix.isEmpty() ? name : namePrefix + name;
        if (isInternal(key, internalPrefix)) {
            // All of the name prefix is in it: a prefix that is internal itself is refused when a store is configured.
            String beginning = (internalPrefix + ":").substring(namePrefix.length());
            throw new StoreException(
                    StoreException.Outcome.FATAL,
                    "lock name: \"" + name + "\" stands for a key among Holdfast's internal ones"
                            + " (expected: a name that does not begin with \"" + beginning + "\")",
                    null);
        }
        return key;
    }

    /** Returns the name of the lock with this key; null if no name has it. */
    @Nullable
    public String nameOf(String key) {
        return key.startsWith(namePrefix) ? key.substring(namePrefix.length()) : null;
    }

    /** Whether a key is, or every key that begins so is, among the internal ones. */
    static boolean isInternal(String key, String internalPrefix) {
        return key.startsWith(internalPrefix)
                && key.length() > internalPrefix.length()
                && key.charAt(internalPrefix.length()) == ':';
    }
}
