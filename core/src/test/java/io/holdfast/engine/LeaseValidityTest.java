package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.engine.ProbeStore.Fate;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Rules 1, 2 and 3: one valid lease, valid by the local clock from the sending on, and loud when lost. */
class LeaseValidityTest extends EngineFixture {

    /** 3 s less 1 % and 2 ms. */
    private static final long VALID_MILLIS = 2_968;

    @Test
    void a_lease_counts_from_before_the_request_was_sent() {
        store.acquires = Fate.REPLY_HELD;
        CompletableFuture<Lease> waiting = acquire(client, "a");
        advance(1_000);
        store.deliverReplies();
        store.renews = Fate.FAIL;

        Lease lease = now(waiting);

        assertThat(lease.remaining()).isEqualTo(Duration.ofMillis(VALID_MILLIS - 1_000));
        advance(VALID_MILLIS - 1_001);
        assertThat(lease.isValid()).isTrue();
        advance(1);
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void a_grant_that_arrives_after_its_deadline_is_not_handed_out_but_given_back() {
        store.acquires = Fate.REPLY_HELD;
        CompletableFuture<Lease> waiting = acquire(client, "a");
        advance(VALID_MILLIS);
        store.acquires = Fate.PASS;
        store.deliverReplies();

        assertThat(store.count("abandon")).isEqualTo(1);
        assertThat(store.count("acquire")).isEqualTo(2);
        assertThat(now(waiting).remaining()).isEqualTo(Duration.ofMillis(VALID_MILLIS));
    }

    @Test
    void a_renewal_counts_from_its_sending() {
        Lease lease = now(acquire(client, "a"));
        store.renews = Fate.REPLY_HELD;
        advance(1_000);
        assertThat(store.count("renew")).isEqualTo(1);
        advance(300);
        store.deliverReplies();

        assertThat(lease.remaining()).isEqualTo(Duration.ofMillis(VALID_MILLIS - 300));
    }

    @Test
    void a_renewal_confirmed_after_the_old_deadline_does_not_count() {
        Lease lease = now(acquire(client, "a"));
        store.renews = Fate.REPLY_HELD;
        advance(VALID_MILLIS);
        store.deliverReplies();

        assertThat(lease.isValid()).isFalse();
        assertThatThrownBy(lease::ensureValid)
                .isInstanceOf(LeaseLostException.class)
                .hasMessageContaining("without a successful renewal");
    }

    /** What was said to be over must not be valid again. */
    @Test
    void is_valid_if_a_renewal_counts_while_its_thread_looks_at_the_clock() {
        HookedTime watched = new HookedTime(time);
        ProbeStore probe = probe("watched");
        Lease lease = now(acquire(client("watched", probe, settings -> settings.time = watched), "a"));
        probe.renews = Fate.REPLY_HELD;
        advance(VALID_MILLIS - 1);
        watched.hook = () -> {
            probe.renews = Fate.PASS;
            probe.deliverReplies();
            advance(1);
        };

        assertThat(lease.isValid()).isTrue();
        assertThat(lease.isValid()).isTrue();
    }

    @Test
    void is_invalid_from_the_first_call_after_a_pause_on_with_no_word_from_the_store() {
        Lease lease = now(acquire(client, "a"));
        store.renews = Fate.REQUEST_HELD;
        time.stepWall(Duration.ofSeconds(4));

        assertThat(lease.isValid()).isFalse();
        assertThat(lease.remaining()).isEqualTo(Duration.ZERO);
    }

    @Test
    void a_wall_clock_that_goes_back_does_not_lengthen() {
        Lease lease = now(acquire(client, "a"));
        store.renews = Fate.FAIL;
        time.stepWall(Duration.ofHours(-1));
        advance(VALID_MILLIS);

        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void loss_by_deadline_is_told_at_once_and_the_next_local_waiter_asks_the_store_anew() {
        ActiveLease lease = now(acquire(client, "a"));
        lease.onLost(() -> events.add("lost"));
        CompletableFuture<Lease> next = acquire(client, "a");
        store.renews = Fate.FAIL;
        advance(VALID_MILLIS - 1);
        assertThat(events).isEmpty();
        advance(1);

        assertThat(events).containsExactly("lost");
        assertThat(now(next).hold.holderId()).isNotEqualTo(lease.hold.holderId());
        assertThat(now(next).fencingToken()).isGreaterThan(lease.fencingToken());
    }

    @Test
    void loss_by_the_store_is_told_at_the_next_renewal() {
        Lease lease = now(acquire(client, "a"));
        lease.onLost(() -> events.add("lost"));
        server.connect(new io.holdfast.spi.StoreContext("admin", time)).forceRelease("a", null);
        advance(1_000);

        assertThat(events).containsExactly("lost");
        assertThatThrownBy(lease::release)
                .isInstanceOf(LeaseLostException.class)
                .hasMessageContaining("removed or was taken");
    }

    @Test
    void loss_by_the_store_is_told_at_the_release_if_that_comes_first() {
        Lease lease = now(acquire(client, "a"));
        client.forceRelease("a");

        assertThatThrownBy(lease::release).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void a_callback_registered_after_the_loss_runs_too_and_one_that_fails_disturbs_nobody() {
        Lease lease = now(acquire(client, "a"));
        lease.onLost(() -> {
            throw new IllegalStateException("a user's bug");
        });
        lease.onLost(() -> events.add("second"));
        client.forceRelease("a");
        advance(1_000);
        lease.onLost(() -> events.add("late"));

        assertThat(events).containsExactly("second", "late");
    }

    @Test
    void a_release_in_time_is_no_loss() {
        Lease lease = now(acquire(client, "a"));
        lease.onLost(() -> events.add("lost"));
        lease.release();
        lease.release();

        assertThat(events).isEmpty();
        assertThat(store.commands).containsExactly("acquire", "release");
        assertThatThrownBy(lease::ensureValid).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void is_renewed_for_as_long_as_it_is_held() {
        Lease lease = now(acquire(client, "a"));
        advance(60_000);

        assertThat(lease.isValid()).isTrue();
        assertThat(store.count("renew")).isBetween(55L, 65L);
    }

    @Test
    void one_failed_renewal_is_retried_within_the_lease() {
        Lease lease = now(acquire(client, "a"));
        store.renews = Fate.FAIL;
        advance(2_000);
        long failed = store.count("renew");
        store.renews = Fate.PASS;
        advance(5_000);

        // At 1.0 s, and from then on every quarter of a second.
        assertThat(failed).isBetween(4L, 6L);
        assertThat(lease.isValid()).isTrue();
    }

    @Test
    void an_unanswered_renewal_is_sent_again() {
        Lease lease = now(acquire(client, "a"));
        store.renews = Fate.REQUEST_HELD;
        advance(1_600);
        store.renews = Fate.PASS;
        advance(5_000);

        assertThat(lease.isValid()).isTrue();
    }

    @Test
    void a_lost_lock_is_not_entered_again_by_its_thread_but_acquired_anew() {
        DistributedLock lock = client.getLock("a");
        lock.lock();
        long lost = lock.fencingToken();
        time.stepWall(Duration.ofSeconds(4));
        lock.lock();

        assertThat(lock.fencingToken()).isGreaterThan(lost);
        assertThat(lock.getHoldCount()).isEqualTo(1);
        lock.unlock();
    }

    @Test
    void each_unlock_of_a_lost_lock_says_so_also_the_nested_ones() {
        DistributedLock lock = client.getLock("a");
        lock.lock();
        lock.lock();
        time.stepWall(Duration.ofSeconds(4));

        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void a_loss_inside_a_lost_lock_does_not_hide_that_the_outer_one_was_lost() {
        DistributedLock lock = client.getLock("a");
        lock.lock();
        lock.lock();
        time.stepWall(Duration.ofSeconds(4));
        assertThat(lock.tryLock()).isTrue();
        assertThat(lock.getHoldCount()).isEqualTo(1);
        time.stepWall(Duration.ofSeconds(4));

        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        }
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
    }
}
