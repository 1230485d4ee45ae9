package io.holdfast.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.MultiLease;
import io.holdfast.testkit.OverlapDetector;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class PermitsTest {

    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final OverlapDetector writers = new OverlapDetector("writer");

    private interface Acquisition {
        Lease acquire() throws InterruptedException;
    }

    @Test
    void no_more_holders_than_permits() throws Exception {
        hold(Fleet.of(6), locks -> new Exports(locks)::acquire);
        assertThat(most.get()).isBetween(2, 3);
    }

    @Test
    void without_a_common_store_there_are_more_holders_than_permits() throws Exception {
        hold(Fleet.withoutCommonStore(6), locks -> new Exports(locks)::acquire);
        assertThat(most).hasValueGreaterThan(3);
    }

    @Test
    void no_more_holders_than_locks() throws Exception {
        hold(Fleet.of(6), locks -> new Permits(locks, "export", 3)::acquire);
        assertThat(most.get()).isBetween(2, 3);
    }

    @Test
    void a_writer_meets_nobody_and_readers_meet_readers() throws Exception {
        assertThat(meetings(Fleet.of(5))).isZero();
        writers.assertClean();
        assertThat(most).hasValueGreaterThan(1);
    }

    @Test
    void without_the_locks_readers_meet_writers() throws Exception {
        assertThat(meetings(Fleet.withoutCommonStore(5))).isPositive();
    }

    private void hold(Fleet fleet, Function<LockClient, Acquisition> permitsOf) throws Exception {
        try (fleet) {
            fleet.all((locks, node) -> {
                Acquisition permits = permitsOf.apply(locks);
                for (int i = 0; i < 4; i++) {
                    try (Lease permit = permits.acquire()) {
                        read();
                        permit.ensureValid();
                    }
                }
                return null;
            });
        }
    }

    /** Returns how many readers writers have met. */
    private int meetings(Fleet fleet) throws Exception {
        AtomicInteger meetings = new AtomicInteger();
        try (fleet) {
            fleet.all((locks, node) -> {
                Permits permits = new Permits(locks, "catalog", 3);
                for (int i = 0; i < 4; i++) {
                    if (node == 0) {
                        try (MultiLease all = permits.acquireAll()) {
                            writers.enter(all.leases().get(0).fencingToken());
                            meetings.addAndGet(inside.get());
                            Fleet.pause();
                            meetings.addAndGet(inside.get());
                            writers.leave();
                        }
                    } else {
                        try (Lease permit = permits.acquire()) {
                            read();
                            permit.ensureValid();
                        }
                    }
                }
                return null;
            });
        }
        return meetings.get();
    }

    private void read() {
        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
        Fleet.pause();
        inside.decrementAndGet();
    }
}
