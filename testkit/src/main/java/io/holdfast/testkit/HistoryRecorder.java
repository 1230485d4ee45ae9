package io.holdfast.testkit;

import io.holdfast.DistributedLock;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.history.Event;
import io.holdfast.history.Event.Kind;
import io.holdfast.history.Findings;
import io.holdfast.history.History;
import io.holdfast.history.HistoryChecker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Records what the users of locks see, for {@link HistoryChecker}: one {@link Use} for each acquisition. Thread-safe; a
 * use belongs to one thread at a time.
 *
 * <pre>{@code
 * HistoryRecorder recorder = new HistoryRecorder();
 * HistoryRecorder.Use use = recorder.ask("order:42", null);      // on each thread that uses the lock
 * Lease lease = locks.acquire("order:42");
 * use.granted(lease);
 * use.release(lease);
 * recorder.assertInOrder(Duration.ofSeconds(30));                // when all threads have ended
 * }</pre>
 */
public final class HistoryRecorder {

    private final String process;
    private final Consumer<Event> sink;
    private final Queue<Event> events = new ConcurrentLinkedQueue<>();
    private final AtomicLong uses = new AtomicLong();

    /** Makes a recorder that keeps the events in memory. */
    public HistoryRecorder() {
        this.process = "test";
        this.sink = events::add;
    }

    /**
     * Makes a recorder that passes each event on at once.
     *
     * @param process different for each process that records a part of the history
     */
    public HistoryRecorder(String process, Consumer<Event> sink) {
        this.process = process;
        this.sink = sink;
    }

    /**
     * Returns a recorder that writes each event to a file at once, so that a killed process loses no event that it has
     * recorded.
     *
     * @param process different for each process that records a part of the history
     * @param file a file to replace
     */
    public static HistoryRecorder toFile(String process, Path file) throws IOException {
        Writer out = Files.newBufferedWriter(file);
        ReentrantLock lock = new ReentrantLock();
        return new HistoryRecorder(process, event -> {
            lock.lock();
            try {
                out.write(event.line() + "\n");
                out.flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } finally {
                lock.unlock();
            }
        });
    }

    /**
     * Records that a caller is about to ask for a lock.
     *
     * @param wait the longest wait, or null
     */
    public Use ask(String lock, @Nullable Duration wait) {
        return ask(lock, wait, null);
    }

    /** Records the same as {@link #ask(String, Duration)} for a lock that the calling thread will own. */
    public Use askAsThread(String lock, @Nullable Duration wait) {
        return ask(lock, wait, Thread.currentThread());
    }

    private Use ask(String lock, @Nullable Duration wait, @Nullable Thread owner) {
        Use use = new Use(process + "/" + uses.incrementAndGet());
        List<Object> details = new ArrayList<>(List.of("lock", lock));
        if (wait != null) {
            details.addAll(List.of("wait", wait.toNanos()));
        }
        if (owner != null) {
            details.addAll(List.of("owner", owner.getName()));
        }
        use.record(Kind.ASK, details.toArray());
        return use;
    }

    /** Records that the store may have lost all holds at this moment. */
    public void forgotAt(long nanos) {
        sink.accept(Event.of(nanos, Kind.FORGOT, "server"));
    }

    /** Returns the events recorded so far in memory. */
    public History history() {
        return new History(new ArrayList<>(events));
    }

    /**
     * Fails if the history is not in order.
     *
     * @param lease the clients' lease time
     * @return the findings
     * @throws AssertionError if the history is not in order; lists the violations
     */
    public Findings assertInOrder(Duration lease) {
        Findings findings = HistoryChecker.builder()
                .lease(lease.toNanos())
                // The machine may be slow; other tests measure how long a wait takes.
                .waitSlack(Duration.ofSeconds(10).toNanos())
                .build()
                .check(history());
        if (!findings.held()) {
            List<String> some = findings.violations()
                    .subList(0, Math.min(20, findings.violations().size()));
            throw new AssertionError("the history is not in order:\n" + String.join("\n", some));
        }
        return findings;
    }

    /** One acquisition and its lease. */
    public final class Use {

        private final String who;

        private Use(String who) {
            this.who = who;
        }

        /** Records that the acquisition ended with this lease. */
        public void granted(Lease lease) {
            record(Kind.GRANTED, "token", lease.fencingToken());
            look(lease);
        }

        /** Records that the acquisition ended without a lease: {@code timeout}, {@code withdrawn} or {@code failed}. */
        public void refused(String why) {
            record(Kind.REFUSED, "why", why);
        }

        /** Records that the lease is valid, if it is. Returns whether it is. */
        public boolean look(Lease lease) {
            return look(lease::isValid);
        }

        /** Records that the calling thread holds the lock, if it does. Returns whether it does. */
        public boolean look(DistributedLock lock) {
            return look(lock::isHeldByCurrentThread);
        }

        private boolean look(BooleanSupplier isValid) {
            long before = System.nanoTime();
            boolean valid = isValid.getAsBoolean();
            if (valid) {
                sink.accept(Event.of(before, Kind.VALID, who));
            }
            return valid;
        }

        /**
         * Looks at the lease and releases it.
         *
         * @throws LeaseLostException as {@link Lease#release()} does
         */
        public void release(Lease lease) {
            look(lease);
            record(Kind.RELEASE);
            orLost(lease::release);
            record(Kind.RELEASED);
        }

        /** Records that the calling thread has the lock. */
        public void granted(DistributedLock lock) {
            record(Kind.GRANTED, "token", lock.fencingToken());
            look(lock);
        }

        /** Records that the calling thread has locked once more the lock that it held. */
        public void again(DistributedLock lock) {
            counted(Kind.AGAIN, lock.getHoldCount(), "token", lock.fencingToken());
        }

        /** Records that the lease was found to be over. */
        public void lost() {
            record(Kind.LOST);
        }

        private void counted(Kind kind, int depth, Object... more) {
            List<Object> details = new ArrayList<>(List.of(more));
            details.addAll(List.of("owner", Thread.currentThread().getName()));
            // A count of zero means that the lease has ended since.
            if (depth > 0) {
                details.addAll(List.of("depth", depth));
            }
            record(kind, details.toArray());
        }

        /**
         * Unlocks once.
         *
         * @param last whether this is the unlock that releases
         * @throws LeaseLostException as {@link DistributedLock#unlock()} does
         */
        public void unlock(DistributedLock lock, boolean last) {
            look(lock);
            if (last) {
                record(Kind.RELEASE);
            }
            orLost(lock::unlock);
            if (last) {
                record(Kind.RELEASED);
            } else {
                counted(Kind.UNLOCKED, lock.getHoldCount());
            }
        }

        private void orLost(Runnable release) {
            try {
                release.run();
            } catch (LeaseLostException e) {
                record(Kind.LOST);
                throw e;
            }
        }

        private void record(Kind kind, Object... details) {
            sink.accept(Event.of(System.nanoTime(), kind, who, details));
        }
    }
}
