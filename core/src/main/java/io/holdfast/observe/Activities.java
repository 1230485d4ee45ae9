package io.holdfast.observe;

import io.holdfast.ClientCard.Activity;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Counts what happens to the names of a client between two cards. */
final class Activities {

    /** Of more names than these, between two cards, the later ones are not counted. */
    private static final int COUNTED_MAX = 1_000;

    static final int SHOWN_MAX = 50;

    private static final class Counts {
        final LongAdder acquired = new LongAdder();
        final LongAdder handedOn = new LongAdder();
        final LongAdder notAcquired = new LongAdder();
        final LongAdder waitedNanos = new LongAdder();
    }

    private volatile ConcurrentMap<String, Counts> names = new ConcurrentHashMap<>();

    void countAcquired(String name, boolean handedOn, long waitedNanos) {
        Counts counts = counts(name);
        if (counts != null) {
            counts.acquired.increment();
            counts.waitedNanos.add(waitedNanos);
            if (handedOn) {
                counts.handedOn.increment();
            }
        }
    }

    void countNotAcquired(String name) {
        Counts counts = counts(name);
        if (counts != null) {
            counts.notAcquired.increment();
        }
    }

    private @Nullable Counts counts(String name) {
        ConcurrentMap<String, Counts> present = names;
        Counts counts = present.get(name);
        return counts != null || present.size() >= COUNTED_MAX
                ? counts
                : present.computeIfAbsent(name, n -> new Counts());
    }

    /** Returns the busiest names since the last call. An event during the call may be counted nowhere. */
    List<Activity> take() {
        ConcurrentMap<String, Counts> counted = names;
        if (counted.isEmpty()) {
            return List.of();
        }
        names = new ConcurrentHashMap<>();
        return counted.entrySet().stream()
                .map(entry -> new Activity(
                        entry.getKey(),
                        entry.getValue().acquired.sum(),
                        entry.getValue().handedOn.sum(),
                        entry.getValue().notAcquired.sum(),
                        Duration.ofNanos(entry.getValue().waitedNanos.sum())))
                .sorted(Comparator.comparingLong((Activity a) -> a.acquired() + a.notAcquired())
                        .reversed()
                        .thenComparing(Activity::name))
                .limit(SHOWN_MAX)
                .toList();
    }
}
