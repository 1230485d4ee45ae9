package io.holdfast.engine;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.engine.ProbeStore.Fate;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Schedules that once broke the engine; found by changing one line at a time and asking which test notices. */
class FoundByAuditTest extends EngineFixture {

    @Test
    void the_answer_to_the_last_renewal_of_a_bounded_lease_does_not_end_the_renewals_of_the_next() {
        Lease first = now(acquire(client, "a", DEFAULTS.holdAtMost(ofMillis(3_500))));
        CompletableFuture<Lease> next = acquire(client, "a");
        store.renews = Fate.REPLY_HELD;
        advance(1_000);
        assertThat(store.count("renew")).isEqualTo(1);
        first.releaseAsync();
        assertThat(now(next).isValid()).isTrue();
        store.renews = Fate.PASS;
        advance(100);
        store.deliverReplies();
        advance(30_000);

        assertThat(now(next).isValid()).isTrue();
    }

    @Test
    void a_renewal_on_its_way_does_not_keep_a_bounded_lease_at_the_store_beyond_its_limit() {
        Lease first = now(acquire(client, "a"));
        store.renews = Fate.REQUEST_HELD;
        advance(1_000);
        CompletableFuture<Lease> next = acquire(client, "a", DEFAULTS.holdAtMost(ofMillis(2_100)));
        store.renews = Fate.PASS;
        first.releaseAsync();
        assertThat(now(next).isValid()).isTrue();
        advance(100);
        store.renews = Fate.REQUEST_HELD;
        store.deliverRequests();

        assertThat(store.inspect("a").toCompletableFuture().join().remainingMillis())
                .isLessThanOrEqualTo(2_000);
    }

    @Test
    void a_release_that_meets_another_release_of_the_same_lease_is_no_loss() {
        ProbeStore probe = probe("twice");
        HookedTime hooked = new HookedTime(time);
        LockClient twice = client("twice", probe, settings -> settings.time = hooked);
        ActiveLease lease = now(acquire(twice, "a"));
        hooked.hook = lease::release;

        lease.release();

        assertThat(probe.count("release")).isEqualTo(1);
    }

    @Test
    @org.junit.jupiter.api.Timeout(value = 30, threadMode = org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD)
    void a_store_that_throws_does_not_hang_whoever_releases() {
        boolean[] broken = new boolean[1];
        ProbeStore probe = new ProbeStore(new ForwardingStore(probe("two")) {
            @Override
            public java.util.concurrent.CompletionStage<io.holdfast.spi.ReleaseReply> release(
                    io.holdfast.spi.ReleaseRequest request) {
                if (broken[0]) {
                    throw new IllegalStateException("a defect");
                }
                return super.release(request);
            }
        });
        LockClient breaking = client("two", probe, settings -> {});
        Lease lease = now(acquire(breaking, "a"));
        broken[0] = true;
        lease.release();
    }

    @Test
    void a_store_that_throws_does_not_keep_a_bounded_wait_from_its_end() {
        ProbeStore probe = new ProbeStore(new ForwardingStore(probe("two")) {
            @Override
            public java.util.concurrent.CompletionStage<io.holdfast.spi.AcquireReply> acquire(
                    io.holdfast.spi.AcquireRequest request) {
                throw new IllegalStateException("a defect");
            }
        });
        LockClient breaking = client("two", probe, settings -> {});
        CompletableFuture<Lease> waiting = acquire(breaking, "a", DEFAULTS.waitAtMost(ofMillis(100)));
        advance(200);
        assertThat(waiting).isDone();
    }

    /** A class that is missing, for example. */
    @Test
    @org.junit.jupiter.api.Timeout(value = 30, threadMode = org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD)
    void a_store_that_throws_an_error_hangs_neither_who_acquires_nor_who_releases() {
        boolean[] broken = new boolean[1];
        ProbeStore probe = new ProbeStore(new ForwardingStore(probe("two")) {
            @Override
            public java.util.concurrent.CompletionStage<io.holdfast.spi.AcquireReply> acquire(
                    io.holdfast.spi.AcquireRequest request) {
                if (broken[0]) {
                    throw new NoClassDefFoundError("a/driver/Part");
                }
                return super.acquire(request);
            }

            @Override
            public java.util.concurrent.CompletionStage<io.holdfast.spi.ReleaseReply> release(
                    io.holdfast.spi.ReleaseRequest request) {
                throw new NoClassDefFoundError("a/driver/Part");
            }
        });
        LockClient breaking = client("two", probe, settings -> {});
        Lease lease = now(acquire(breaking, "a"));
        broken[0] = true;
        lease.release();
        assertThatThrownBy(() -> breaking.tryAcquire("b"))
                .isInstanceOf(LockStoreException.class)
                .hasMessageContaining("a/driver/Part");
        CompletableFuture<Lease> waiting = acquire(breaking, "c");
        advance(6_000);
        assertThat(waiting).isCompletedExceptionally();
    }
}
