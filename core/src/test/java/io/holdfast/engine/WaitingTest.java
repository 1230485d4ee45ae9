package io.holdfast.engine;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Rules 4, 6, 7, 10, 11: one outcome for each waiter, in time, and waiters that gave up leave nothing at the store. */
class WaitingTest extends EngineFixture {

    final LockClient other = client("other");

    @Test
    void one_command_for_an_acquire_one_for_a_release_none_for_a_local_hand_off() {
        Lease first = now(acquire(client, "a"));
        CompletableFuture<Lease> second = acquire(client, "a");
        CompletableFuture<Lease> third = acquire(client, "a");
        first.release();
        now(second).release();
        now(third).release();

        assertThat(store.commands).containsExactly("acquire", "release");
    }

    @Test
    void local_waiters_are_served_in_the_order_of_their_arrival() {
        Lease first = now(acquire(client, "a"));
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            int number = i;
            CompletableFuture<Lease> next = acquire(client, "a");
            waiting.add(next.whenComplete((lease, error) -> events.add("" + number)));
        }
        first.release();
        waiting.forEach(next -> now(next).release());

        assertThat(events).containsExactly("0", "1", "2", "3", "4", "5", "6", "7", "8", "9");
    }

    @Test
    void a_wait_that_its_caller_ends_otherwise_than_by_a_cancel_is_withdrawn_too() {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> one = acquire(client, "a");
        CompletableFuture<Optional<Lease>> maybe =
                client.tryAcquireAsync("a", DEFAULTS.waitAtMost(ofSeconds(60))).toCompletableFuture();
        CompletableFuture<MultiLease> all =
                client.acquireAllAsync(List.of("a", "b"), DEFAULTS).toCompletableFuture();
        assertThat(Inside.engine(client).size()).isPositive();
        // As orTimeout does.
        one.completeExceptionally(new TimeoutException());
        maybe.complete(Optional.empty());
        all.completeExceptionally(new TimeoutException());
        advance(10);

        assertThat(client.localLocks()).isEmpty();
        assertThat(other.inspect("a").waitingClients()).isZero();
        held.release();
        assertThat(server.size()).isZero();
    }

    /** Meant never to end, and more nanoseconds than a long can tell. */
    @Test
    void a_key_that_lasts_for_centuries_is_polled_like_any_other() {
        AtomicInteger asked = new AtomicInteger();
        LockClient waiting = LockClient.builder()
                .store(new ForwardingStore(probe("centuries")) {
                    @Override
                    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
                        asked.incrementAndGet();
                        return CompletableFuture.completedFuture(new AcquireReply.Busy(9_999_999_999_999L, 0, "x"));
                    }
                })
                .timeSource(time)
                .leaseTime(LEASE)
                .build();
        clients.add(waiting);
        CompletableFuture<Lease> late = acquire(waiting, "a", DEFAULTS.waitAtMost(ofSeconds(3)));
        advance(2_000);

        assertThat(asked).hasValueBetween(2, 4);
        late.cancel(true);
    }

    @Test
    void a_remote_waiter_is_woken_by_the_grant_of_the_release_well_before_its_poll() {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> waiting = acquire(client, "a");
        assertThat(waiting).isNotDone();
        held.release();
        advance(1);

        assertThat(now(waiting).isValid()).isTrue();
        assertThat(store.count("acquire")).isEqualTo(2);
    }

    @Test
    void a_missed_grant_costs_no_more_than_a_poll() {
        store.messages = false;
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> waiting = acquire(client, "a");
        held.release();
        advance(900);

        assertThat(now(waiting).isValid()).isTrue();
    }

    @Test
    void a_waiter_asks_again_when_the_holder_expires_and_after_a_reconnect() {
        ProbeStore dying = probe("dying");
        CompletableFuture<Lease> held = acquire(client("dying", dying, s -> {}), "a", DEFAULTS.leaseFor(ofMillis(300)));
        assertThat(held).isCompleted();
        dying.abandons = Fate.REQUEST_HELD;
        CompletableFuture<Lease> waiting = acquire(client, "a");
        advance(303);
        assertThat(now(waiting).isValid()).isTrue();
        dying.abandons = Fate.PASS;
        dying.deliverRequests();

        Lease again = now(acquire(other, "b"));
        CompletableFuture<Lease> second = acquire(client, "b");
        store.messages = false;
        again.release();
        java.util.Objects.requireNonNull(store.listener).reconnected();
        assertThat(second).isCompleted();
    }

    @Test
    void a_bounded_wait_ends_in_time_and_leaves_the_queue() {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> waiting = acquire(client, "a", DEFAULTS.waitAtMost(ofMillis(500)));
        advance(499);
        assertThat(waiting).isNotDone();
        advance(1);

        assertThatThrownBy(waiting::join)
                .hasCauseInstanceOf(LockTimeoutException.class)
                .hasMessageContaining("500 ms");
        assertThat(waitingAtStore()).isZero();
        held.release();
        assertThat(server.size()).isZero();
    }

    @Test
    void local_and_remote_waiting_share_one_deadline() {
        Lease local = now(acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(1))));
        assertThat(local.isValid()).isTrue();
        CompletableFuture<Lease> waiting = acquire(client, "a", DEFAULTS.waitAtMost(ofMillis(1_500)));
        CompletableFuture<Lease> remote = acquire(other, "a");
        advance(1_499);
        assertThat(waiting).isNotDone();
        advance(1);

        assertThat(remote).isCompleted();
        assertThat(waiting).isCompletedExceptionally();
    }

    @Test
    void an_attempt_without_waiting_makes_one_command_and_leaves_nothing() {
        Lease held = now(acquire(other, "a"));

        assertThat(tryNow(client)).isEmpty();
        assertThat(store.commands).containsExactly("acquire");
        assertThat(waitingAtStore()).isZero();
        held.release();
        assertThat(tryNow(client)).isPresent();
    }

    @Test
    void an_attempt_without_waiting_costs_no_command_while_the_lock_is_held_here() {
        now(acquire(client, "a"));

        assertThat(tryNow(client)).isEmpty();
        assertThat(store.commands).containsExactly("acquire");
    }

    @Test
    void an_acquire_that_was_cancelled_on_its_way_is_withdrawn_and_again_if_it_succeeds_later() {
        store.acquires = Fate.REQUEST_HELD;
        CompletableFuture<Lease> waiting = acquire(client, "a");
        waiting.cancel(false);
        assertThat(store.count("abandon")).isEqualTo(1);
        store.deliverRequests();

        assertThat(store.count("abandon")).isEqualTo(2);
        assertThat(server.size()).isZero();
    }

    @Test
    void an_acquire_of_unknown_outcome_is_withdrawn_until_the_store_confirms() {
        store.acquires = Fate.FAIL;
        store.failure = new StoreException(StoreException.Outcome.UNKNOWN, "store: no answer", null);
        store.abandons = Fate.FAIL;
        Optional<Throwable> error = failureOf(() -> tryNow(client));
        assertThat(error).get().isInstanceOf(LockStoreException.class);
        assertThat(store.count("abandon")).isEqualTo(1);
        advance(1_000);
        store.abandons = Fate.PASS;
        advance(5_000);

        long sent = store.count("abandon");
        assertThat(sent).isBetween(4L, 8L);
        advance(10_000);
        assertThat(store.count("abandon")).isEqualTo(sent);
    }

    @Test
    void a_cancelled_stage_whose_grant_is_on_its_way_gives_the_lease_back() {
        Lease held = now(acquire(client, "a"));
        CompletableFuture<Lease> second = acquire(client, "a");
        CompletableFuture<Lease> third = acquire(client, "a");
        second.cancel(true);
        held.release();

        assertThat(now(third).isValid()).isTrue();
        now(third).release();
        assertThat(server.size()).isZero();
    }

    @Test
    void a_store_that_fails_for_a_moment_is_asked_again() {
        store.acquires = Fate.FAIL;
        CompletableFuture<Lease> waiting = acquire(client, "a");
        advance(1_000);
        assertThat(waiting).isNotDone();
        store.acquires = Fate.PASS;
        advance(1_000);

        assertThat(now(waiting).isValid()).isTrue();
    }

    @Test
    void a_store_that_goes_on_failing_is_an_error_that_says_why_and_not_busy() {
        store.acquires = Fate.FAIL;
        CompletableFuture<Lease> waiting = acquire(client, "a");
        CompletableFuture<Lease> bounded = acquire(client, "a", DEFAULTS.waitAtMost(ofSeconds(2)));
        advance(2_000);
        assertThatThrownBy(bounded::join)
                .hasCauseInstanceOf(LockStoreException.class)
                .hasMessageContaining("down");
        advance(3_100);

        assertThatThrownBy(waiting::join)
                .hasCauseInstanceOf(LockStoreException.class)
                .hasMessageContaining("down");
    }

    @Test
    void a_fatal_error_fails_all_waiters_at_once() {
        store.acquires = Fate.FAIL;
        store.failure = new StoreException(StoreException.Outcome.FATAL, "store: wrong type", null);
        CompletableFuture<Lease> waiting = acquire(client, "a");

        assertThatThrownBy(waiting::join)
                .hasCauseInstanceOf(LockStoreException.class)
                .hasMessageContaining("wrong type");
    }

    @Test
    void a_grant_for_an_id_that_nobody_waits_for_is_given_back() {
        long given = Inside.engine(client).numbers.next();
        java.util.Objects.requireNonNull(store.listener)
                .granted("a", HolderId.of(Inside.engine(client).settings.clientId, given));

        assertThat(store.commands).containsExactly("abandon");
    }

    @Test
    void closing_fails_who_waits_ends_what_is_held_and_releases_it() {
        Lease held = now(acquire(client, "a"));
        CompletableFuture<Lease> local = acquire(client, "a");
        now(acquire(other, "b"));
        CompletableFuture<Lease> remote = acquire(client, "b");
        Inside.engine(client).closeAsync();

        assertThatThrownBy(local::join).hasCauseInstanceOf(LockClientClosedException.class);
        assertThatThrownBy(remote::join).hasCauseInstanceOf(LockClientClosedException.class);
        assertThatThrownBy(held::release).isInstanceOf(LeaseLostException.class).hasMessageContaining("closed");
        assertThatThrownBy(acquire(client, "c")::join).hasCauseInstanceOf(LockClientClosedException.class);
        assertThatThrownBy(() -> client.tryAcquire("c")).isInstanceOf(LockClientClosedException.class);
        assertThat(now(acquire(other, "a")).isValid()).isTrue();
    }

    @Test
    void a_tenure_ends_after_a_while_when_another_client_waits() {
        Lease first = now(acquire(client, "a"));
        CompletableFuture<Lease> local = acquire(client, "a");
        CompletableFuture<Lease> remote = acquire(other, "a");
        CompletableFuture<Lease> last = acquire(client, "a");
        advance(1);
        first.release();
        assertThat(local).isCompleted();
        advance(20);
        now(local).release();
        advance(1);

        assertThat(store.count("requeue")).isEqualTo(1);
        assertThat(now(remote).isValid()).isTrue();
        assertThat(last).isNotDone();
        now(remote).release();
        advance(1);
        assertThat(now(last).fencingToken()).isGreaterThan(now(remote).fencingToken());
    }

    @Test
    void a_tenure_of_zero_passes_the_lock_to_the_other_client_at_every_release() {
        LockOptions brief = DEFAULTS.tenure(java.time.Duration.ZERO);
        Lease first = now(acquire(client, "a"));
        CompletableFuture<Lease> local = acquire(client, "a", brief);
        CompletableFuture<Lease> remote = acquire(other, "a");
        advance(1);
        first.release();
        advance(1);

        assertThat(now(remote).isValid()).isTrue();
        assertThat(local).isNotDone();
    }

    @Test
    void without_anybody_else_a_tenure_goes_on() {
        Lease held = now(acquire(client, "a"));
        for (int i = 0; i < 50; i++) {
            CompletableFuture<Lease> next = acquire(client, "a");
            advance(20);
            held.release();
            held = now(next);
        }
        assertThat(store.count("acquire")).isEqualTo(1);
        assertThat(store.count("requeue")).isZero();
    }

    @Test
    void tokens_grow_over_hand_offs_expiry_and_clients_and_past_the_count_of_one_hold() {
        long last = 0;
        for (int i = 0; i < 3; i++) {
            for (LockClient each : clients) {
                Lease lease = now(acquire(each, "a"));
                assertThat(lease.fencingToken()).isGreaterThan(last);
                last = lease.fencingToken();
                lease.release();
            }
        }
        Lease held = now(acquire(client, "a"));
        for (int i = 0; i < 70_000; i++) {
            CompletableFuture<Lease> next = acquire(client, "a");
            held.releaseAsync();
            held = now(next);
            assertThat(held.fencingToken()).isGreaterThan(last);
            last = held.fencingToken();
        }
        assertThat(store.count("requeue")).isEqualTo(70_000 >> 14);
    }

    private Optional<Lease> tryNow(LockClient who) {
        return who.tryAcquireAsync("a", DEFAULTS).toCompletableFuture().join();
    }

    private long waitingAtStore() {
        return other.inspect("a").waitingClients();
    }

    private static Optional<Throwable> failureOf(ThrowingCallable call) {
        Throwable thrown = org.assertj.core.api.Assertions.catchThrowable(call);
        return Optional.ofNullable(thrown == null ? null : thrown.getCause());
    }
}
