package io.holdfast.redis.commands;

import io.holdfast.redis.connect.StageGuard;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * The knowledge of a client about one of its holds in mode {@code commands}. Only the holding client writes to a hold,
 * so it knows what a script would look up: how long the hold lasts at least, and which settings were made.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>At most one write is under way: {@link #next} makes the writes of a hold follow each other.
 *   <li>The server's hold ends at {@link #untilNanos} or later, whichever writes of unknown outcome are executed after
 *       all, or never.
 *   <li>A write that was answered cannot be undone by an earlier write that is executed later: a setting, and every
 *       write that follows one of unknown outcome, changes the value, and every write compares the value.
 * </ul>
 *
 * <p>All mutable fields but {@link #value} are used only in steps of {@link #next}.
 */
public final class CommandsHold {

    /** Separates the holder id from the number of a changed value. No holder id contains it. */
    private static final char VERSION = '#';

    final String id;
    final long base;

    /** The value of the key if the hold is there, as far as the client knows. */
    volatile String value;

    /** The number of exact settings that were sent. */
    long sequence;

    /** The number that was last used up. Smaller than {@link #sequence} while a failed setting may be repeated. */
    long executed;

    /** The time on the local clock until which the hold lasts at least, unless it is ended. */
    long untilNanos;

    /** Whether the outcome of a write is unknown, so that it may be executed at any time. */
    boolean uncertain;

    private int version;
    private final AtomicReference<CompletableFuture<?>> last =
            new AtomicReference<>(CompletableFuture.completedFuture(null));

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
        CompletionStage<?> before = last.getAndSet(done);
        before.whenComplete((result, error) ->
                StageGuard.begin(step).whenComplete((answer, failure) -> StageGuard.complete(done, answer, failure)));
        return done;
    }

    /** Returns a value that this hold never had. */
    String newValue() {
        version++;
        return id + VERSION + version;
    }

    /** Returns whether a key with this value is held by this id. */
    static boolean isOf(String id, String value) {
        return value.equals(id)
                || (value.startsWith(id + VERSION)
                        && value.substring(id.length() + 1).matches("[0-9]{1,9}"));
    }

    /** Returns whether the value of a hold was changed since it began. */
    static boolean isChanged(String value) {
        return value.indexOf(VERSION) >= 0;
    }

    /** Returns the value without its version: for people, and to compare with holder ids. */
    public static String holder(String value) {
        int at = value.startsWith("hf-") ? value.lastIndexOf(VERSION) : -1;
        return at < 0 ? value : value.substring(0, at);
    }
}
