package io.holdfast.micrometer;

import io.holdfast.Leadership;
import io.holdfast.Permits;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import java.util.Iterator;
import java.util.function.UnaryOperator;

/**
 * The tags of a meter of locks.
 *
 * @param name what the user's function made from the name that listeners see
 * @param kind {@code lock}, {@code permits} or {@code leader}
 */
record LockTags(String name, String kind) implements Iterable<Tag> {

    static LockTags of(String name, UnaryOperator<String> tag) {
        return new LockTags(
                tag.apply(name),
                name.startsWith(Permits.SHOWN_PREFIX)
                        ? "permits"
                        : name.startsWith(Leadership.LOCK_PREFIX) ? "leader" : "lock");
    }

    @Override
    public Iterator<Tag> iterator() {
        return Tags.of("name", name, "kind", kind).iterator();
    }
}
