package io.holdfast.engine;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockStoreException;
import io.holdfast.MultiLease;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreState;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A lease that its user extends: a fixed one gets a new end, a renewed one a time that is certain. */
class ExtendTest extends EngineFixture {

    @Test
    void a_fixed_lease_ends_at_the_new_end_here_and_at_the_store() {
        Lease lease = now(acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(2))));
        advance(1_000);
        lease.extend(ofSeconds(10));
        assertThat(remainingAtStore()).isEqualTo(10_000);
        assertThat(lease.remaining()).isEqualTo(ofMillis(9_898));
        advance(9_897);
        assertThat(lease.isValid()).isTrue();
        advance(1);

        assertThat(lease.isValid()).isFalse();
        assertThat(store.renewals.stream().filter(each -> !each.isLook())).hasSize(1);
        assertThat(server.size()).isZero();
        assertThatThrownBy(lease::ensureValid).hasMessageContaining("fixed time is over");
    }

    @Test
    void a_fixed_lease_can_be_shortened() {
        Lease lease = now(acquire(client, "a", DEFAULTS.leaseFor(ofMinutes(10))));
        lease.extend(ofSeconds(1));
        assertThat(remainingAtStore()).isEqualTo(1_000);
        advance(988);

        assertThat(lease.isValid()).isFalse();
        assertThat(server.size()).isZero();
    }

    @Test
    void a_fixed_lease_can_be_extended_many_times() {
        Lease lease = now(acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(1))));
        for (int i = 0; i < 20; i++) {
            advance(900);
            lease.extend(ofSeconds(1));
        }
        assertThat(lease.isValid()).isTrue();
        lease.release();
    }

    @Test
    void a_lease_with_a_limit_is_renewed_up_to_the_new_one() {
        Lease lease = now(acquire(client, "a", DEFAULTS.holdAtMost(ofSeconds(2))));
        advance(1_900);
        lease.extend(ofSeconds(20));
        advance(19_900);
        assertThat(lease.isValid()).isTrue();
        assertThat(remainingAtStore()).isLessThanOrEqualTo(100);
        advance(100);

        assertThat(lease.isValid()).isFalse();
        assertThat(server.size()).isZero();
        assertThatThrownBy(lease::ensureValid).hasMessageContaining("longest holding time is over");
    }

    @Test
    void a_limit_can_come_sooner() {
        Lease lease = now(acquire(client, "a", DEFAULTS.holdAtMost(ofMinutes(10))));
        advance(5_000);
        lease.extend(ofSeconds(1));
        assertThat(remainingAtStore()).isEqualTo(1_000);
        advance(1_000);

        assertThat(lease.isValid()).isFalse();
        assertThat(server.size()).isZero();
    }

    @Test
    void a_renewed_lease_outlives_an_outage_of_the_time_it_was_given() {
        Lease lease = now(acquire(client, "a"));
        lease.extend(ofSeconds(60));
        store.renews = Fate.FAIL;
        advance(55_000);
        assertThat(lease.isValid()).isTrue();
        store.renews = Fate.PASS;
        advance(120_000);
        assertThat(lease.isValid()).isTrue();
        lease.release();
        assertThat(server.size()).isZero();
    }

    @Test
    void a_renewed_lease_does_not_get_shorter_and_its_loss_is_noticed_as_soon_as_ever() {
        Lease lease = now(acquire(client, "a"));
        lease.extend(ofMillis(100));
        assertThat(lease.remaining()).isGreaterThan(ofSeconds(2));
        lease.extend(ofMinutes(5));
        advance(100);
        server.connect(new io.holdfast.spi.StoreContext("operator", time)).forceRelease("a", null);
        advance(LEASE.toMillis() / 3 + 1);

        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void the_next_lease_is_as_short_as_any_other() {
        Lease first = now(acquire(client, "a"));
        first.extend(ofMinutes(5));
        CompletableFuture<Lease> next = acquire(client, "a");
        first.releaseAsync();

        assertThat(now(next).isValid()).isTrue();
        assertThat(remainingAtStore()).isEqualTo(LEASE.toMillis());
    }

    /** The store may have executed it, so the lease must not be relied on for longer than the shorter time. */
    @Test
    void a_shorter_time_counts_from_the_sending_on_and_a_longer_one_from_the_answer_on() {
        Lease lease = now(acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(10))));
        store.renews = Fate.REPLY_HELD;
        CompletionStage<Void> shorter = lease.extendAsync(ofSeconds(1));
        assertThat(lease.remaining()).isEqualTo(ofMillis(988));
        advance(900);
        CompletionStage<Void> longer = lease.extendAsync(ofSeconds(5));
        assertThat(lease.remaining()).isEqualTo(ofMillis(88));
        store.deliverReplies();
        assertThat(shorter).isCompleted();
        assertThat(longer).isCompleted();
        assertThat(lease.remaining()).isEqualTo(ofMillis(4_948));
    }

    @Test
    void an_answer_that_comes_after_the_old_end_is_too_late() {
        Lease lease = now(acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(1))));
        store.renews = Fate.REPLY_HELD;
        CompletionStage<Void> extended = lease.extendAsync(ofSeconds(60));
        advance(1_000);
        assertThat(lease.isValid()).isFalse();
        store.renews = Fate.PASS;
        store.deliverReplies();

        assertThatThrownBy(() -> extended.toCompletableFuture().join()).hasCauseInstanceOf(LeaseLostException.class);
        assertThat(server.size()).isZero();
    }

    @Test
    void a_setting_that_is_executed_after_the_release_shortens_no_later_lease() {
        Lease first = now(acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(10))));
        CompletableFuture<Lease> next = acquire(client, "a");
        store.renews = Fate.REQUEST_HELD;
        CompletionStage<Void> extended = first.extendAsync(ofMillis(900));
        store.renews = Fate.PASS;
        first.releaseAsync();
        Lease second = now(next);
        advance(500);
        store.deliverRequests();
        for (int i = 0; i < 200; i++) {
            assertThat(second.isValid()).as("after " + 50 * i + " ms").isTrue();
            assertThat(remainingAtStore())
                    .isGreaterThanOrEqualTo(second.remaining().toMillis());
            advance(50);
        }
        assertThatThrownBy(() -> extended.toCompletableFuture().join())
                .hasCauseInstanceOf(IllegalStateException.class)
                .hasMessageContaining("was released");
    }

    /** The renewal has the number of the setting, so the store refuses the setting after it. */
    @Test
    void a_setting_that_a_renewal_overtook_is_sent_again() {
        Lease lease = now(acquire(client, "a", DEFAULTS.holdAtMost(ofMinutes(1))));
        store.renews = Fate.REQUEST_HELD;
        CompletionStage<Void> extended = lease.extendAsync(ofMinutes(2));
        store.renews = Fate.PASS;
        advance(1_100);
        store.deliverRequests();

        assertThat(extended).isCompleted();
        assertThat(store.renewals.stream().filter(RenewRequest::exact)).hasSize(2);
        advance(119_900);
        assertThat(lease.isValid()).isTrue();
        advance(100);
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void a_store_that_fails_is_an_error_and_the_earlier_end_counts() {
        Lease lease = now(acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(2))));
        store.renews = Fate.FAIL;
        store.failure = new StoreException(StoreException.Outcome.UNKNOWN, "store: no answer", null);
        assertThatThrownBy(() -> lease.extend(ofSeconds(10)))
                .isInstanceOf(LockStoreException.class)
                .hasMessageContaining("\"a\"")
                .hasMessageContaining("store: no answer")
                .hasMessageContaining("(expected: ");
        assertThat(lease.remaining()).isEqualTo(ofMillis(1_978));
        assertThatThrownBy(() -> lease.extend(ofSeconds(1))).isInstanceOf(LockStoreException.class);
        assertThat(lease.remaining()).isEqualTo(ofMillis(988));
        store.renews = Fate.PASS;
        lease.extend(ofSeconds(10));
        assertThat(lease.remaining()).isEqualTo(ofMillis(9_898));
    }

    @Test
    void a_lease_that_is_over_is_not_extended() {
        Lease released = now(acquire(client, "a"));
        released.release();
        assertThatThrownBy(() -> released.extend(ofSeconds(10)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("was released");

        Lease lost = now(acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(1))));
        advance(1_000);
        assertThatThrownBy(() -> lost.extend(ofSeconds(10))).isInstanceOf(LeaseLostException.class);

        Lease removed = now(acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(1))));
        server.connect(new io.holdfast.spi.StoreContext("operator", time)).forceRelease("a", null);
        assertThatThrownBy(() -> removed.extend(ofSeconds(10))).isInstanceOf(LeaseLostException.class);
        assertThat(removed.isValid()).isFalse();
    }

    @Test
    void a_time_beyond_the_limits_is_refused() {
        Lease lease = now(acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(2))));
        assertThatThrownBy(() -> lease.extend(ofMillis(99)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("time: 99 ms (expected: at least 100 ms");
        assertThatThrownBy(() -> lease.extendAsync(java.time.Duration.ofDays(366)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_multi_lease_extends_all_of_its_leases() throws InterruptedException {
        MultiLease all = client.acquireAll(List.of("a", "b"), DEFAULTS.leaseFor(ofSeconds(2)));
        all.extend(ofSeconds(10));
        assertThat(all.remaining()).isEqualTo(ofMillis(9_898));
        assertThat(all.extendAsync(ofSeconds(20))).isCompleted();
        assertThat(all.remaining()).isEqualTo(ofMillis(19_798));
        client.forceRelease("a");
        assertThatThrownBy(() -> all.extend(ofSeconds(30))).isInstanceOf(LeaseLostException.class);
        assertThat(all.lease("b").remaining()).isEqualTo(ofMillis(29_698));
        assertThatThrownBy(all::release).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void a_thread_extends_the_lock_that_it_owns() {
        DistributedLock lock = client.getLock("a");
        lock.lock(2, TimeUnit.SECONDS);
        lock.extend(ofSeconds(10));
        assertThat(lock.remaining()).isEqualTo(ofMillis(9_898));
        lock.unlock();
        assertThatThrownBy(() -> lock.extend(ofSeconds(10)))
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasMessageContaining("extend");
    }

    private long remainingAtStore() {
        StoreState state = store.inspect("a").toCompletableFuture().join();
        return state.remainingMillis();
    }
}
