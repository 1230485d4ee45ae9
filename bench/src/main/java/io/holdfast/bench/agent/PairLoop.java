package io.holdfast.bench.agent;

import io.holdfast.bench.peer.Handle;
import java.util.concurrent.locks.LockSupport;

/** One thread's part of a {@link PairTask}. Its figures may be read once the thread has ended. */
final class PairLoop implements Threads.Body {

    private final Handle handle;
    private final String name;
    private final Inside inside;
    private final boolean nested;
    private final boolean journaling;
    private final long from;
    private final long to;
    private final long section;

    private final Latencies latencies = new Latencies();
    private final Journal journal = new Journal();
    private long acquisitions;
    private long longestWait;

    PairLoop(Handle handle, Message order, String name, Inside inside) {
        this.handle = handle;
        this.name = name;
        this.inside = inside;
        this.nested = order.flag("nested");
        this.journaling = !order.text("journal").isEmpty();
        this.from = order.number("from");
        this.to = order.number("to");
        this.section = order.number("section");
    }

    @Override
    public void run() throws Exception {
        if (nested) {
            handle.lock(name);
            loop();
            handle.unlock(name);
        } else {
            loop();
        }
    }

    private void loop() throws Exception {
        for (long asked = System.nanoTime(); asked - to < 0; ) {
            handle.lock(name);
            long entered = System.nanoTime();
            inside.enter();
            if (section > 0) {
                LockSupport.parkNanos(section);
            }
            inside.leave();
            long left = System.nanoTime();
            handle.unlock(name);
            long done = System.nanoTime();
            count(asked, entered, left, done);
            asked = done;
        }
    }

    private void count(long asked, long entered, long left, long done) {
        if (entered - from < 0) {
            return;
        }
        // A wait counts only within the window.
        longestWait = Math.max(longestWait, Math.min(entered, to) - Math.max(asked, from));
        if (journaling) {
            journal.add(entered, left);
        }
        if (entered - to < 0) {
            acquisitions++;
            latencies.add(done - asked);
        }
    }

    long acquisitions() {
        return acquisitions;
    }

    long longestWait() {
        return longestWait;
    }

    Latencies latencies() {
        return latencies;
    }

    Journal journal() {
        return journal;
    }
}
