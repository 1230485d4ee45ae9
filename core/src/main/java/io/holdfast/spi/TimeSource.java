package io.holdfast.spi;

/**
 * A clock and a timer that agree with each other: all time in Holdfast comes from here, so that the real engine runs
 * under virtual time in tests.
 *
 * <p>Implementations are thread-safe.
 */
public interface TimeSource {

    /** Monotonic time in nanoseconds, as {@link System#nanoTime()}: only differences mean something. */
    long nanoTime();

    /**
     * This machine's wall clock in milliseconds since 1970. It may jump; it is used only to <em>shorten</em> a lease
     * (a suspended machine stops the monotonic clock), never compared with another machine's.
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
        /** Withdraws the task. If it runs just now or has run, nothing happens. */
        void cancel();
    }

    /** The time of this JVM. One daemon thread serves all its timers. */
    static TimeSource system() {
        return SystemTime.INSTANCE;
    }
}
