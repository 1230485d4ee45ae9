package io.holdfast.spring.boot;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/**
 * The fixed parts of lock names, for the tag of meters: those of locked methods and those that the settings name. A lock name with
 * none of them is {@code other}, since a tag for each key would be a meter for each order.
 */
final class LockNames {

    static final String OTHER = "other";

    private final Set<String> known = new ConcurrentSkipListSet<>();

    LockNames(List<String> names) {
        known.addAll(names);
    }

    void add(String name) {
        known.add(name);
    }

    /** The longest known part that the lock name is, or begins with and a colon follows. */
    String tag(String lockName) {
        for (int end = lockName.length(); end > 0; end = lockName.lastIndexOf(':', end - 1)) {
            String part = lockName.substring(0, end);
            if (known.contains(part)) {
                return part;
            }
        }
        return OTHER;
    }
}
