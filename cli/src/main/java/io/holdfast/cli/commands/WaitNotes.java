package io.holdfast.cli.commands;

import io.holdfast.LockClientClosedException;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.process.Terminal;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Says at growing intervals that {@code exec} still waits, and for whom. A person at a terminal reads the first line
 * soon; elsewhere a line that is not needed becomes a mail of cron.
 */
final class WaitNotes implements AutoCloseable {

    private static final Duration FIRST_AT_A_TERMINAL = Duration.ofSeconds(2);
    private static final Duration FIRST_ELSEWHERE = Duration.ofMinutes(1);

    private final Io io;
    private final String name;
    private final Supplier<String> holder;
    private final Thread thread;

    private boolean ended; // guarded by this

    /**
     * Creates the notes of a wait, which {@link #start} begins.
     *
     * @param holder describes the holder, as in "held by billing"; asks the store
     */
    WaitNotes(Io io, String name, Supplier<String> holder) {
        // Asks about the terminal only after a wait that a person notices, because that starts a process.
        this(
                io,
                name,
                holder,
                FIRST_AT_A_TERMINAL,
                () -> Terminal.isStandardError() ? FIRST_AT_A_TERMINAL : FIRST_ELSEWHERE);
    }

    /**
     * For tests with shorter times.
     *
     * @param soon the time after which {@code first} is asked
     * @param first the time after which the first line is written; each further line doubles the time
     */
    WaitNotes(Io io, String name, Supplier<String> holder, Duration soon, Supplier<Duration> first) {
        this.io = io;
        this.name = name;
        this.holder = holder;
        this.thread = new Thread(() -> run(soon, first), "holdfast-wait-notes");
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    private void run(Duration soon, Supplier<Duration> first) {
        try {
            Thread.sleep(soon.toMillis());
            Duration waited = first.get();
            Thread.sleep(waited.minus(soon).toMillis());
            while (note(waited)) {
                Thread.sleep(waited.toMillis());
                waited = waited.multipliedBy(2);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // by close()
        }
    }

    private boolean note(Duration waited) {
        String text;
        try {
            text = name + ": has waited " + DurationConverter.format(waited) + ", " + holder.get();
        } catch (LockClientClosedException e) {
            return false; // the wait has ended, and exec with it
        }
        synchronized (this) {
            if (!ended) {
                io.complain(text);
            }
            return !ended;
        }
    }

    /** Ends the notes; none is written after this method returns. */
    @Override
    public void close() {
        synchronized (this) {
            ended = true;
        }
        thread.interrupt();
    }
}
