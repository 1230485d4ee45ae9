package io.holdfast.spi;

/**
 * A clock and a timer that agree with each other: all time in Holdfast comes from here, so that the real engine runs
 * under virtual time in tests.
 *
 * <pre>{@code
 * TimeSource time = context.time();      // of the StoreContext
 * TimeSource.Timer timeout = time.schedule(
 *         Duration.ofSeconds(3).toNanos(), () -> reply.completeExceptionally(noAnswer));
 * reply.whenComplete((answer, error) -> timeout.cancel());
 * }</pre>
 *
 * <p>Implementations are thread-safe.
 */
public interface TimeSource {

    /** Returns monotonic time in nanoseconds, as {@link System#nanoTime()} does: only differences have a meaning. */
    long nanoTime();

    /**
     * Returns this machine's wall clock in milliseconds since 1970. The clock may jump. It only <em>shortens</em> a
     * lease (a suspended machine stops the monotonic clock) and is never compared with the clock of another machine.
     */
    long wallMillis();

    /**
     * Runs a task once, after the delay or a little later, on a thread of this time source. Tasks are short and do not
     * block.
     *
     * @param delayNanos nanoseconds from now; zero or less means as soon as possible
     */
    Timer schedule(long delayNanos, Runnable task);

    /** A task that waits for its time. */
    @FunctionalInterface
    interface Timer {
        /** Withdraws the task. Does nothing if it is running or has run. */
        void cancel();
    }

    /**
     * Returns the time of this JVM. One daemon thread serves all its timers, and ends some seconds after the last one.
     */
    static TimeSource system() {
        return SystemTime.INSTANCE;
    }
}
