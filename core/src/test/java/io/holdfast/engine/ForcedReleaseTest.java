package io.holdfast.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.ForcedRelease;
import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreListener;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A name that is released by force through this client: nothing is handed out here on the hold that was removed. */
class ForcedReleaseTest extends EngineFixture {

    private final LockClient other = client("two");

    @Test
    void a_hold_that_was_removed_is_not_handed_on() {
        ActiveLease first = now(acquire(client, "a"));
        CompletableFuture<Lease> here = acquire(client, "a");
        CompletableFuture<Lease> there = acquire(other, "a");
        assertThat(client.forceRelease("a")).isTrue();
        assertThatThrownBy(first::release).isInstanceOf(LeaseLostException.class);
        advance(10);

        assertThat(now(there).isValid()).isTrue();
        assertThat(here).isNotDone();
        now(there).release();
        advance(10);
        assertThat(now(here).hold.holderId()).isNotEqualTo(first.hold.holderId());
    }

    @Test
    void a_lease_of_fixed_length_is_lost_at_once() {
        Lease lease = now(acquire(client, "a", DEFAULTS.leaseFor(Duration.ofMinutes(10))));
        lease.onLost(() -> events.add("lost"));
        client.forceRelease("a");
        assertThat(lease.isValid()).isFalse();
        assertThat(events).containsExactly("lost");
    }

    @Test
    void nothing_is_handed_on_while_the_outcome_is_open() {
        ActiveLease first = now(acquire(client, "a"));
        CompletableFuture<Lease> here = acquire(client, "a");
        CompletableFuture<Lease> there = acquire(other, "a");
        store.forces = Fate.REPLY_HELD;
        CompletableFuture<ForcedRelease> forced = force();
        first.releaseAsync();
        advance(10);

        assertThat(now(there).isValid()).isTrue();
        assertThat(here).isNotDone();
        store.deliverReplies();
        assertThat(forced.join().isEnded()).isTrue();
        now(there).release();
        advance(10);
        assertThat(now(here).isValid()).isTrue();
    }

    @Test
    void the_message_of_a_force_through_this_client_leaves_the_news_to_its_answer() {
        Lease lease = now(acquire(client, "a"));
        store.forces = Fate.REPLY_HELD;
        CompletableFuture<ForcedRelease> forced = force();
        long asked = store.count("renew");
        requireNonNull(store.listener).forced("a", lease.holderId());
        advance(1);
        assertThat(store.count("renew")).isEqualTo(asked);
        store.deliverReplies();
        assertThat(forced.join().isEnded()).isTrue();
        assertThatThrownBy(lease::ensureValid).hasMessageContaining("it was removed by force through this client");
    }

    @Test
    void a_force_of_unknown_outcome_makes_the_client_ask_at_once_and_hand_nothing_on() {
        ActiveLease first = now(acquire(client, "a"));
        CompletableFuture<Lease> here = acquire(client, "a");
        store.forces = Fate.FAIL;
        store.failure = new StoreException(StoreException.Outcome.UNKNOWN, "store: timeout", null);
        long asked = store.count("renew");
        assertThatThrownBy(() -> client.forceRelease("a")).isInstanceOf(LockStoreException.class);
        advance(1);
        assertThat(store.count("renew")).isEqualTo(asked + 1);
        assertThat(first.isValid()).isTrue();
        first.release();
        assertThat(now(here).hold).isNotSameAs(first.hold);
    }

    /** The store executed the acquire, then the force; the answers come in the other order. */
    @Test
    void a_grant_that_was_executed_before_the_force_is_asked_for_again() {
        store.acquires = Fate.REPLY_HELD;
        CompletableFuture<Lease> waiting = acquire(client, "a");
        assertThat(client.forceRelease("a")).isTrue();
        Lease there = now(acquire(other, "a"));
        store.acquires = Fate.PASS;
        store.deliverReplies();

        assertThat(there.isValid()).isTrue();
        assertThat(waiting).isNotDone();
        there.release();
        advance(10);
        assertThat(now(waiting).isValid()).isTrue();
    }

    /** As above, but the grant is heard of first. */
    @Test
    void a_grant_that_is_heard_of_while_a_force_is_under_way_waits_for_its_outcome() {
        store.acquires = Fate.REPLY_HELD;
        CompletableFuture<Lease> waiting = acquire(client, "a");
        store.acquires = Fate.PASS;
        store.forces = Fate.REQUEST_HELD;
        CompletableFuture<ForcedRelease> forced = force();
        store.deliverReplies();
        assertThat(waiting).isNotDone();
        store.deliverRequests();
        assertThat(forced.join().isEnded()).isTrue();
        advance(10);
        assertThat(now(waiting).isValid()).isTrue();
        assertThat(store.inspect("a").toCompletableFuture().join().holder())
                .isEqualTo(now(waiting).hold.holderId());
    }

    /** The waiter here is the next in the store's queue. */
    @Test
    void a_waiter_whom_the_force_serves_keeps_its_lease() {
        store.details = true;
        Lease there = now(acquire(other, "a"));
        CompletableFuture<Lease> here = acquire(client, "a");
        advance(10);
        assertThat(client.forceRelease("a")).isTrue();
        advance(10);
        assertThat(now(here).isValid()).isTrue();
        advance(5_000);
        assertThat(now(here).isValid()).isTrue();
        assertThat(there.isValid()).isFalse();
    }

    /** A person confirms the holder that the page shows; meanwhile the lock has changed hands. */
    @Test
    void only_the_hold_of_the_named_holder_is_ended() {
        ActiveLease seen = now(acquire(client, "a"));
        String holder = seen.hold.holderId();
        seen.release();
        Lease next = now(acquire(other, "a"));

        ForcedRelease refused = client.forceRelease("a", holder);
        assertThat(refused.outcome()).isEqualTo(ForcedRelease.Outcome.HELD_BY_ANOTHER);
        assertThat(refused.holder()).isEqualTo(client.inspect("a").holder());
        assertThat(refused.isEnded()).isFalse();
        advance(20_000);
        assertThat(next.isValid()).isTrue();

        String now = refused.holder().orElseThrow();
        assertThat(client.forceRelease("a", now))
                .isEqualTo(new ForcedRelease(
                        "a",
                        ForcedRelease.Outcome.ENDED,
                        Optional.of(now),
                        client.inspect("a").holderCard()));
        assertThat(client.forceRelease("a", now).outcome()).isEqualTo(ForcedRelease.Outcome.FREE);
        advance(20_000);
        assertThat(next.isValid()).isFalse();
    }

    /** The lease here is not the one that is asked for, so it is handed on as ever. */
    @Test
    void a_force_against_another_holder_leaves_the_hold_of_this_client_alone() {
        ActiveLease first = now(acquire(client, "a"));
        CompletableFuture<Lease> here = acquire(client, "a");
        assertThat(client.forceRelease("a", "hf-gone:1").outcome()).isEqualTo(ForcedRelease.Outcome.HELD_BY_ANOTHER);
        first.release();
        advance(1);
        assertThat(now(here).hold).isSameAs(first.hold);
    }

    @Test
    void a_named_hold_of_this_client_is_lost_at_once() {
        ActiveLease lease = now(acquire(client, "a"));
        assertThat(client.forceRelease("a", lease.hold.holderId()).isEnded()).isTrue();
        assertThat(lease.isValid()).isFalse();
    }

    // --- the old holder, in another client ---

    @Test
    void the_holder_elsewhere_is_told_at_once() {
        Lease lease = now(acquire(client, "a"));
        lease.onLost(() -> events.add("lost"));
        assertThat(other.forceRelease("a")).isTrue();
        advance(1);
        assertThat(lease.isValid()).isFalse();
        assertThat(events).containsExactly("lost");
        assertThat(store.count("renew")).isEqualTo(1);
    }

    @Test
    void a_holder_elsewhere_whose_lease_has_a_fixed_length_is_told_at_once() {
        Lease lease = now(acquire(client, "a", DEFAULTS.leaseFor(Duration.ofMinutes(10))));
        assertThat(other.forceRelease("a", client.inspect("a").holder().orElseThrow())
                        .isEnded())
                .isTrue();
        advance(1);
        assertThat(lease.isValid()).isFalse();
    }

    /** Any program that may publish can send this message, as often as it likes. */
    @Test
    void forged_messages_end_nothing_and_cause_one_question_at_a_time() {
        ActiveLease lease = now(acquire(client, "a"));
        store.renews = Fate.REPLY_HELD;
        tellForced(lease, 1_000);
        tellForced(lease, 1_000);
        assertThat(store.count("renew")).isEqualTo(1);
        assertThat(lease.isValid()).isTrue();

        store.renews = Fate.PASS;
        store.deliverReplies();
        advance(1);
        assertThat(store.count("renew")).isEqualTo(2);
        advance(500);
        assertThat(store.count("renew")).isEqualTo(2);
        advance(60_000);
        assertThat(lease.isValid()).isTrue();
    }

    @Test
    void a_message_about_an_earlier_hold_causes_no_question() {
        ActiveLease earlier = now(acquire(client, "a"));
        earlier.release();
        Lease lease = now(acquire(client, "a"));
        tellForced(earlier, 10);
        assertThat(store.count("renew")).isZero();
        assertThat(lease.isValid()).isTrue();
    }

    /** The store confirms a renewal, executes the force, and its answer and the message cross. */
    @Test
    void a_renewal_that_was_executed_before_the_force_is_not_the_answer() {
        ActiveLease lease = now(acquire(client, "a"));
        store.renews = Fate.REPLY_HELD;
        tellForced(lease, 1);
        assertThat(store.count("renew")).isEqualTo(1);
        assertThat(other.forceRelease("a")).isTrue();
        advance(1);
        store.renews = Fate.PASS;
        store.deliverReplies();
        advance(1);
        assertThat(lease.isValid()).isFalse();
    }

    /** The regular renewals still ask. */
    @Test
    void a_store_that_fails_is_not_asked_more_often() {
        ActiveLease lease = now(acquire(client, "a"));
        store.renews = Fate.FAIL;
        for (int i = 0; i < 50; i++) {
            tellForced(lease, 1);
        }
        assertThat(lease.isValid()).isTrue();
        assertThat(store.count("renew")).isEqualTo(1);
        assertThat(other.forceRelease("a")).isTrue();
        store.renews = Fate.PASS;
        advance(300);
        assertThat(lease.isValid()).isFalse();
    }

    private void tellForced(ActiveLease lease, int times) {
        StoreListener receiver = requireNonNull(store.listener);
        for (int i = 0; i < times; i++) {
            receiver.forced("a", lease.hold.holderId());
        }
        advance(1);
    }

    private CompletableFuture<ForcedRelease> force() {
        return Inside.engine(client).forceReleaseAsync("a", null).toCompletableFuture();
    }
}
