package io.holdfast.engine;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.MultiLease;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreListener;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A store that promises no more than half a second at a time, whatever it is asked for. */
class PartlyPromisedTest extends EngineFixture {

    private static final long MOST = 500;

    private final ProbeStore shy =
            new ProbeStore(new PartlyPromisingStore(server.connect(new StoreContext("shy", time)), MOST));
    private final LockClient careful = client("shy", shy, settings -> {});

    @Test
    void a_lease_shows_only_what_was_promised_and_is_renewed_by_that() {
        Lease lease = now(acquire(careful, "a"));
        for (int i = 0; i < 100; i++) {
            assertThat(lease.isValid()).isTrue();
            assertThat(lease.remaining()).isBetween(ofMillis(1), ofMillis(MOST - 7));
            advance(50);
        }
        assertThat(shy.count("renew")).isGreaterThan(20);
    }

    @Test
    void a_lease_whose_renewals_fail_ends_with_the_promise() {
        Lease lease = now(acquire(careful, "a"));
        shy.renews = Fate.FAIL;
        advance(492);
        assertThat(lease.isValid()).isTrue();
        advance(1);
        assertThat(lease.isValid()).isFalse();
        assertThatThrownBy(lease::ensureValid).hasMessageContaining("without a successful renewal");
    }

    @Test
    void a_fixed_lease_is_kept_up_to_its_length_and_no_longer() {
        Lease lease = now(acquire(careful, "a", DEFAULTS.leaseFor(ofSeconds(2))));
        for (int i = 0; i < 39; i++) {
            assertThat(lease.isValid()).as("after " + 50 * i + " ms").isTrue();
            assertThat(lease.remaining()).isLessThanOrEqualTo(ofMillis(MOST - 7));
            advance(50);
        }
        advance(28);
        assertThat(lease.isValid()).isFalse();
        assertThatThrownBy(lease::ensureValid).hasMessageContaining("fixed time is over");
        assertThat(server.size()).isZero();
    }

    @Test
    void a_fixed_lease_that_is_handed_on_here_is_kept_up_too() {
        Lease first = now(acquire(careful, "a"));
        CompletableFuture<Lease> next = acquire(careful, "a", DEFAULTS.leaseFor(ofSeconds(1)));
        first.releaseAsync();
        Lease lease = now(next);
        advance(900);
        assertThat(lease.isValid()).isTrue();
        advance(90);
        assertThat(lease.isValid()).isFalse();
    }

    /** What the store promises now is no reason to give the first name back while the second is waited for. */
    @Test
    void of_several_names_the_first_is_kept_while_the_next_is_waited_for() {
        Lease held = now(acquire(client, "b"));
        CompletableFuture<MultiLease> all = careful.acquireAllAsync(List.of("a", "b"), DEFAULTS.leaseFor(ofSeconds(20)))
                .toCompletableFuture();
        advance(10_000);
        assertThat(client.localLocks()).hasSize(1);
        assertThat(shy.count("release")).isZero();
        held.release();
        advance(1_000);
        assertThat(all).isCompleted();
        assertThat(all.join().isValid()).isTrue();
        all.join().release();
    }

    @Test
    void a_lease_of_bounded_holding_is_renewed_up_to_its_bound() {
        Lease lease = now(acquire(careful, "a", DEFAULTS.holdAtMost(ofSeconds(2))));
        advance(1_900);
        assertThat(lease.isValid()).isTrue();
        advance(100);
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void a_hold_that_the_store_says_is_lost_ends_at_once() {
        Lease lease = now(acquire(careful, "a"));
        lease.onLost(() -> events.add("lost"));
        StoreListener listener = Objects.requireNonNull(shy.listener);
        listener.lost("a", "somebody else's");
        assertThat(lease.isValid()).isTrue();
        listener.lost("a", LeaseHandle.active(lease).hold.holderId());
        assertThat(lease.isValid()).isFalse();
        assertThat(events).containsExactly("lost");
    }

    @Test
    void a_forgotten_lease_with_an_end_of_its_own_is_not_reported_before_that() throws Exception {
        try (Warnings warnings = new Warnings()) {
            careful.tryAcquire("a", DEFAULTS.leaseFor(ofSeconds(3))).ifPresent(lease -> {});
            System.gc();
            advance(2_000);

            assertThat(warnings.said()).isEmpty();
        }
    }
}
