package io.holdfast.micrometer;

import io.holdfast.DistributedReadWriteLock;
import io.holdfast.Leadership;
import io.holdfast.Permits;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import java.util.Iterator;
import java.util.Map;
import java.util.function.UnaryOperator;

/**
 * The tags of a meter of locks.
 *
 * @param name what the user's function made from the name that listeners see
 * @param kind {@code lock}, {@code permits}, {@code read}, {@code write} or {@code leader}
 */
record LockTags(String name, String kind) implements Iterable<Tag> {

    /** By what stands before the name. */
    private static final Map<String, String> KINDS = Map.of(
            Permits.SHOWN_PREFIX, "permits",
            DistributedReadWriteLock.READ_PREFIX, "read",
            DistributedReadWriteLock.WRITE_PREFIX, "write",
            Leadership.LOCK_PREFIX, "leader");

    static LockTags of(String name, UnaryOperator<String> tag) {
        return new LockTags(tag.apply(name), kindOf(name));
    }

    private static String kindOf(String name) {
        return KINDS.entrySet().stream()
                .filter(kind -> name.startsWith(kind.getKey()))
                .map(Map.Entry::getValue)
                .findFirst()
                .orElse("lock");
    }

    @Override
    public Iterator<Tag> iterator() {
        return Tags.of("name", name, "kind", kind).iterator();
    }
}
