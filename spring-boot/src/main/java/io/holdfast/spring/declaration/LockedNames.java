package io.holdfast.spring.declaration;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The constant parts of lock names, which meters use as a tag: those of {@link io.holdfast.spring.Locked} methods,
 * added when their beans are made, and those of the settings. All other locks share one tag, because a tag for each key
 * would be a meter for each key. Thread-safe.
 */
public final class LockedNames {

    private static final String OTHER = "other";

    private final Set<String> names = ConcurrentHashMap.newKeySet();

    /** Whether names may have a prefix that is not among the known ones. */
    private volatile boolean prefixed;

    public void add(String name) {
        names.add(name);
    }

    /** Lets the known parts follow a prefix and a colon. */
    public void allowPrefixes() {
        prefixed = true;
    }

    /**
     * Returns the longest known part that the lock name equals or begins with, a colon following; or {@code other}. If
     * a {@link io.holdfast.spring.LockNameCustomizer} changes names, the part may also follow its prefix and a colon.
     */
    public String tag(String lockName) {
        String tag = tagAtStart(lockName);
        for (int colon = lockName.indexOf(':');
                tag.equals(OTHER) && prefixed && colon >= 0;
                colon = lockName.indexOf(':', colon + 1)) {
            tag = tagAtStart(lockName.substring(colon + 1));
        }
        return tag;
    }

    private String tagAtStart(String lockName) {
        for (int end = lockName.length(); end > 0; end = lockName.lastIndexOf(':', end - 1)) {
            String part = lockName.substring(0, end);
            if (names.contains(part)) {
                return part;
            }
        }
        return OTHER;
    }
}
