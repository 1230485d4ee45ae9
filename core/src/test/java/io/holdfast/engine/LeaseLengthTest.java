package io.holdfast.engine;

import static java.time.Duration.ofHours;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreState;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Leases with a length of their own: they end by then, here first and then at the store. */
class LeaseLengthTest extends EngineFixture {

    @Test
    void leaseFor_is_not_renewed_and_ends_at_the_store_too() {
        Lease lease = now(acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(2))));
        lease.onLost(() -> events.add("lost"));
        assertThat(remainingAtStore()).isEqualTo(2_000);
        advance(1_977);
        assertThat(lease.isValid()).isTrue();
        advance(1);

        assertThat(lease.isValid()).isFalse();
        assertThat(store.renewals).allMatch(RenewRequest::isLook);
        assertThat(events).containsExactly("lost");
        // Ended by a command, not left to the store's expiry.
        assertThat(store.count("abandon")).isEqualTo(1);
        assertThat(server.size()).isZero();
        assertThatThrownBy(lease::ensureValid).hasMessageContaining("fixed time is over");
    }

    @Test
    void holdAtMost_is_renewed_up_to_its_limit_and_never_beyond_it_at_the_store() {
        Lease lease = now(acquire(client, "a", DEFAULTS.holdAtMost(ofSeconds(8))));
        advance(7_500);
        assertThat(lease.isValid()).isTrue();
        assertThat(remainingAtStore()).isLessThanOrEqualTo(500);
        advance(500);

        assertThat(lease.isValid()).isFalse();
        assertThat(store.count("renew")).isPositive();
        assertThat(server.size()).isZero();
        assertThatThrownBy(lease::ensureValid).hasMessageContaining("longest holding time is over");
    }

    @Test
    void a_local_hand_off_to_a_bounded_lease_first_sets_its_length_at_the_store() {
        Lease first = now(acquire(client, "a"));
        CompletableFuture<Lease> next = acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(1)));
        store.renews = Fate.REQUEST_HELD;
        first.releaseAsync();
        assertThat(next).isNotDone();
        store.deliverRequests();

        assertThat(next).isCompleted();
        assertThat(remainingAtStore()).isEqualTo(1_000);
        assertThat(now(next).remaining()).isEqualTo(ofMillis(988));
        assertThat(store.commands).containsExactly("acquire", "renew");
    }

    @Test
    void a_length_that_is_not_of_whole_milliseconds_is_set_once() {
        Lease first = now(acquire(client, "a"));
        CompletableFuture<Lease> next = acquire(client, "a", DEFAULTS.leaseFor(ofNanos(1_000_500_000)));
        store.renews = Fate.REQUEST_HELD;
        first.releaseAsync();
        store.deliverRequests();

        assertThat(next).isCompleted();
        assertThat(remainingAtStore()).isEqualTo(1_000);
        assertThat(store.count("renew")).isEqualTo(1);
    }

    @Test
    void after_a_long_fixed_lease_the_next_renewed_one_is_as_short_as_any_other() {
        Lease first = now(acquire(client, "a", DEFAULTS.leaseFor(ofHours(1))));
        CompletableFuture<Lease> next = acquire(client, "a");
        first.releaseAsync();

        assertThat(now(next).isValid()).isTrue();
        assertThat(remainingAtStore()).isEqualTo(LEASE.toMillis());
        advance(1_000);
        assertThat(store.count("renew")).isEqualTo(2);
        assertThat(remainingAtStore()).isEqualTo(LEASE.toMillis());
        // A command of its own only where the length differs.
        CompletableFuture<Lease> third = acquire(client, "a");
        now(next).releaseAsync();
        assertThat(now(third).isValid()).isTrue();
        assertThat(store.count("renew")).isEqualTo(2);
    }

    @Test
    void a_grant_that_was_asked_for_by_one_who_wanted_it_for_long_is_cut_for_who_takes_it() {
        LockClient other = client("two");
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> gone =
                acquire(client, "a", DEFAULTS.leaseFor(ofHours(1)).waitAtMost(ofMillis(500)));
        CompletableFuture<Lease> next = acquire(client, "a");
        advance(600);
        assertThat(gone).isCompletedExceptionally();
        held.releaseAsync();
        advance(1_100);

        assertThat(now(next).isValid()).isTrue();
        assertThat(remainingAtStore()).isLessThanOrEqualTo(LEASE.toMillis());
    }

    @Test
    void a_regular_renewal_that_is_executed_after_the_setting_does_not_undo_it() {
        Lease first = now(acquire(client, "a"));
        store.renews = Fate.REQUEST_HELD;
        advance(1_000);
        CompletableFuture<Lease> next = acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(1)));
        store.renews = Fate.PASS;
        first.releaseAsync();
        store.deliverRequests();

        assertThat(now(next).isValid()).isTrue();
        assertThat(remainingAtStore()).isEqualTo(1_000);
        advance(1_000);
        assertThat(now(next).isValid()).isFalse();
    }

    @Test
    void the_answer_to_a_renewal_sent_before_the_setting_does_not_undo_it() {
        Lease first = now(acquire(client, "a"));
        store.renews = Fate.REPLY_HELD;
        advance(1_000);
        CompletableFuture<Lease> next = acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(1)));
        store.renews = Fate.PASS;
        first.releaseAsync();
        store.deliverReplies();

        assertThat(now(next).remaining()).isEqualTo(ofMillis(988));
    }

    @Test
    void after_a_short_lease_the_next_renewed_one_gets_its_full_length() {
        Lease first = now(acquire(client, "a", DEFAULTS.leaseFor(ofMillis(500))));
        CompletableFuture<Lease> next = acquire(client, "a");
        first.releaseAsync();

        assertThat(now(next).isValid()).isTrue();
        advance(30_000);
        assertThat(now(next).isValid()).isTrue();
    }

    @Test
    void a_lease_that_is_renewed_follows_one_that_was_not_without_a_setting_and_is_renewed_from_then_on() {
        Lease first = now(acquire(client, "a", DEFAULTS.holdAtMost(ofSeconds(2))));
        CompletableFuture<Lease> next = acquire(client, "a");
        first.releaseAsync();
        assertThat(now(next).isValid()).isTrue();
        advance(30_000);

        assertThat(now(next).isValid()).isTrue();
    }

    @Test
    void a_local_hand_off_to_holdAtMost_sets_the_length_if_the_store_would_keep_the_lock_for_longer() {
        Lease first = now(acquire(client, "a"));
        CompletableFuture<Lease> next = acquire(client, "a", DEFAULTS.holdAtMost(ofSeconds(1)));
        first.releaseAsync();

        assertThat(now(next).isValid()).isTrue();
        assertThat(remainingAtStore()).isEqualTo(1_000);
    }

    @Test
    void a_local_hand_off_to_a_longer_leaseFor_sets_its_full_length() {
        Lease first = now(acquire(client, "a"));
        CompletableFuture<Lease> next = acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(10)));
        first.releaseAsync();
        advance(9_000);

        assertThat(now(next).isValid()).isTrue();
        assertThat(store.renewals.get(0).exact()).isTrue();
        assertThat(store.renewals.subList(1, store.renewals.size())).allMatch(RenewRequest::isLook);
    }

    @Test
    void a_hand_off_with_little_time_left_renews_first() {
        Lease first = now(acquire(client, "a"));
        CompletableFuture<Lease> next = acquire(client, "a");
        store.renews = Fate.FAIL;
        advance(2_600);
        store.renews = Fate.PASS;
        long before = store.count("renew");
        first.releaseAsync();

        assertThat(store.count("renew")).isEqualTo(before + 1);
        assertThat(now(next).remaining()).isGreaterThan(ofSeconds(2));
    }

    @Test
    void a_failed_setting_gives_the_hold_up_and_asks_anew() {
        ActiveLease first = now(acquire(client, "a"));
        CompletableFuture<Lease> next = acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(1)));
        store.renews = Fate.FAIL;
        first.releaseAsync();

        assertThat(now(next).hold).isNotSameAs(first.hold);
        assertThat(store.count("abandon")).isEqualTo(1);
    }

    @Test
    void a_lock_whose_thread_has_died_is_not_renewed_for_ever() throws InterruptedException {
        Thread owner = new Thread(() -> client.getLock("a").lock());
        owner.start();
        owner.join();
        advance(60_000);

        assertThat(server.size()).isZero();
        assertThat(Inside.engine(client).size()).isZero();
    }

    private long remainingAtStore() {
        StoreState state = store.inspect("a").toCompletableFuture().join();
        store.commands.remove("inspect");
        return state.remainingMillis();
    }

    @Test
    void holdAtMost_counts_from_the_grant_however_late_the_answer_came() {
        store.acquires = Fate.REPLY_HELD;
        CompletableFuture<Lease> waiting = acquire(client, "a", DEFAULTS.holdAtMost(ofSeconds(2)));
        advance(1_500);
        store.acquires = Fate.PASS;
        store.deliverReplies();
        Lease lease = now(waiting);
        advance(1_900);
        assertThat(lease.isValid()).isTrue();
        assertThat(remainingAtStore()).isLessThanOrEqualTo(100);
        advance(100);

        assertThat(lease.isValid()).isFalse();
        assertThat(server.size()).isZero();
    }

    @Test
    void holdAtMost_within_one_lease_costs_no_renewal() {
        Lease lease = now(acquire(client, "a", DEFAULTS.holdAtMost(ofSeconds(2))));
        advance(1_900);
        assertThat(lease.isValid()).isTrue();
        assertThat(store.renewals).allMatch(RenewRequest::isLook);
    }
}
