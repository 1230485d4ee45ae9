package io.holdfast.zookeeper;

import io.holdfast.spi.TimeSource;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;

/**
 * The holds of work that may go on after the close of the client. The end of the session would give these locks to
 * others at once, so the session stays until all such work has ended.
 */
final class LeftHolds {

    private static final long LOOK_NANOS = 100_000_000;

    private record Left(String name, String holderId, BooleanSupplier inUse) {}

    private final TimeSource time;
    private final BiConsumer<String, String> end;
    private final Set<Left> holds = ConcurrentHashMap.newKeySet();

    /** @param end ends a hold, given its name and holder id */
    LeftHolds(TimeSource time, BiConsumer<String, String> end) {
        this.time = time;
        this.end = end;
    }

    /** Adds a hold; before {@link #whenNone}. */
    void add(String name, String holderId, BooleanSupplier inUse) {
        holds.add(new Left(name, holderId, inUse));
    }

    boolean isEmpty() {
        return holds.isEmpty();
    }

    /** Ends each hold when its work has ended, and then runs the task, on the thread of the timers. */
    void whenNone(Runnable task) {
        holds.removeIf(hold -> {
            boolean ended = !hold.inUse().getAsBoolean();
            if (ended) {
                end.accept(hold.name(), hold.holderId());
            }
            return ended;
        });
        if (holds.isEmpty()) {
            task.run();
        } else {
            time.schedule(LOOK_NANOS, () -> whenNone(task));
        }
    }
}
