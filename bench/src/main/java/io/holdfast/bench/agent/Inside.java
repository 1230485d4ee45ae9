package io.holdfast.bench.agent;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Detects too many threads at once in one critical section of this process; cheap enough for a measured loop. */
final class Inside {

    private final int most;
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicLong violations = new AtomicLong();

    /** @param most how many may be inside */
    Inside(int most) {
        this.most = most;
    }

    void enter() {
        if (inside.incrementAndGet() > most) {
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
