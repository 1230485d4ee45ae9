package io.holdfast.bench.agent;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Detects two threads at once in one critical section of this process; cheap enough for a measured loop. */
final class Inside {

    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicLong violations = new AtomicLong();

    void enter() {
        if (inside.incrementAndGet() != 1) {
            violations.incrementAndGet();
        }
    }

    void leave() {
        inside.decrementAndGet();
    }

    long violations() {
        return violations.get();
    }
}
