package io.holdfast.redis.commands;

import io.holdfast.redis.connect.StageGuard;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * What a client knows of one of its holds in the mode without scripts. Only the client that holds ever writes to a hold,
 * so it knows all that scripts would have to look up: how long the hold lasts at least, and which settings were made.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>At most one write is under way: {@link #next} makes the writes of a hold follow each other.
 *   <li>The server's hold ends at {@link #untilNanos} or later, whichever of the writes whose outcome is unknown are still
 *       executed, or never.
 *   <li>A write that was answered cannot be undone by an earlier one that is executed later: a setting, and whatever
 *       follows a write of unknown outcome, changes the value, and every write compares the value.
 * </ul>
 *
 * <p>All fields but {@link #value} are used only in steps of {@link #next}.
 */
public final class CommandsHold {

    /** What separates the holder id from the number of a changed value. Not in holder ids. */
    private static final char VERSION = '#';

    final String id;
    final long base;

    /** The value that the key has if the hold is there, as far as known. */
    volatile String value;

    /** How many exact settings were sent. */
    long sequence;

    /** The number that was last used up. Smaller than {@link #sequence} while a setting that failed may come again. */
    long executed;

    /** The hold lasts at least until then on the local clock, unless it is ended. */
    long untilNanos;

    /** Whether the outcome of a write is unknown: it may be executed at any time. */
    boolean uncertain;

    private int version;
    private final ReentrantLock lock = new ReentrantLock();
    private CompletableFuture<?> last = CompletableFuture.completedFuture(null); // by lock

    CommandsHold(String id, String value, long base, long untilNanos) {
        this.id = id;
        this.value = value;
        this.base = base;
        this.untilNanos = untilNanos;
        this.version = isChanged(value) ? Integer.parseInt(value.substring(id.length() + 1)) : 0;
    }

    /** Runs a step after all earlier ones are complete. */
    <T> CompletionStage<T> next(Supplier<CompletionStage<T>> step) {
        CompletableFuture<T> done = new CompletableFuture<>();
        CompletionStage<?> before;
        lock.lock();
        try {
            before = last;
            last = done;
        } finally {
            lock.unlock();
        }
        before.whenComplete((result, error) -> {
            StageGuard.begin(step).whenComplete((answer, failure) -> {
                if (failure != null) {
                    done.completeExceptionally(failure);
                } else {
                    done.complete(answer);
                }
            });
        });
        return done;
    }

    /** A value that this hold never had. */
    String newValue() {
        version++;
        return id + VERSION + version;
    }

    /** Whether a key with this value is held by this id. */
    static boolean isOf(String id, String value) {
        return value.equals(id)
                || (value.startsWith(id + VERSION)
                        && value.substring(id.length() + 1).matches("[0-9]{1,9}"));
    }

    /** Whether the value of a hold was changed since it began. */
    static boolean isChanged(String value) {
        return value.indexOf(VERSION) >= 0;
    }

    /** For people, and to compare with holder ids: the value without the number of its change. */
    public static String holder(String value) {
        int at = value.startsWith("hf-") ? value.lastIndexOf(VERSION) : -1;
        return at < 0 ? value : value.substring(0, at);
    }
}
