package io.holdfast.engine;

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
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Several names together: in order, all or none, by one deadline. */
class MultiAcquisitionTest extends EngineFixture {

    private final LockClient other = client("two");

    @Test
    void takes_each_name_once_in_their_order() throws InterruptedException {
        try (MultiLease all = client.acquireAll(List.of("c", "a", "b", "a"), DEFAULTS)) {
            assertThat(all.leases()).extracting(Lease::name).containsExactly("a", "b", "c");
            assertThat(all.isValid()).isTrue();
            assertThat(all.remaining()).isPositive();
            assertThat(all.lease("b").fencingToken()).isPositive();
            assertThatThrownBy(() -> all.lease("d"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("\"d\"")
                    .hasMessageContaining("\"a\", \"b\", \"c\"");
            assertThat(other.tryAcquire("a")).isEmpty();
            assertThat(other.tryAcquire("c")).isEmpty();
        }
        now(acquire(other, "a")).release();
        now(acquire(other, "c")).release();
    }

    /** The short forms with a wait alone: zero is one attempt, and a bad wait is refused. */
    @Test
    void takes_a_wait_without_options() throws InterruptedException {
        List<String> names = List.of("a", "b");
        client.acquireAll(names, Duration.ZERO).release();
        client.tryAcquireAll(names, Duration.ZERO).orElseThrow().release();
        Lease held = now(acquire(other, "b"));

        assertThatThrownBy(() -> client.acquireAll(names, Duration.ZERO)).isInstanceOf(LockTimeoutException.class);
        assertThat(client.tryAcquireAll(names, Duration.ZERO)).isEmpty();
        CompletableFuture<MultiLease> all =
                client.acquireAllAsync(names, Duration.ofSeconds(2)).toCompletableFuture();
        CompletableFuture<Optional<MultiLease>> perhaps =
                client.tryAcquireAllAsync(names, Duration.ofSeconds(2)).toCompletableFuture();
        advance(1_900);
        assertThat(all).isNotDone();
        assertThat(perhaps).isNotDone();
        advance(200);
        assertThat(all).isCompletedExceptionally();
        assertThat(perhaps.join()).isEmpty();
        assertThatThrownBy(() -> client.tryAcquireAll(names, Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class);
        held.release();
    }

    @Test
    void two_groups_in_opposite_order_do_not_wait_for_each_other_in_a_circle() {
        CompletableFuture<MultiLease> first = all(client, DEFAULTS, "a", "b");
        CompletableFuture<MultiLease> second = all(other, DEFAULTS, "b", "a");

        assertThat(first).isCompleted();
        assertThat(second).isNotDone();
        first.join().release();
        advance(2_000);
        assertThat(second).isCompleted();
        second.join().release();
    }

    /** What is held already ends soon, so the wait for the next is short: too short to judge a store that fails. */
    @Test
    void a_store_that_fails_for_a_short_time_does_not_fail_a_wait_that_what_is_held_cut_short() {
        Lease held = now(acquire(other, "b"));
        CompletableFuture<MultiLease> all = all(client, DEFAULTS.leaseFor(Duration.ofSeconds(1)), "a", "b");
        advance(500);
        store.acquires = Fate.FAIL;
        advance(1_500);
        assertThat(all).isNotDone();
        store.acquires = Fate.PASS;
        held.releaseAsync();
        for (int i = 0; i < 60 && !all.isDone(); i++) {
            advance(50);
        }

        assertThat(all).isCompleted();
        all.join().release();
    }

    /** Each round begins well, as only the second name's server is away. */
    @Test
    void a_store_that_fails_for_one_name_fails_the_whole_after_its_time_however_short_the_leases() {
        LockClient half = clientWithout(new AtomicBoolean(true), Duration.ofSeconds(2));
        CompletableFuture<MultiLease> all = all(half, DEFAULTS.leaseFor(Duration.ofMillis(500)), "a", "b");
        advance(1_500);
        assertThat(all).isNotDone();
        advance(1_500);
        assertThat(all).isCompletedExceptionally();
        assertThatThrownBy(all::join).hasCauseInstanceOf(LockStoreException.class);
    }

    @Test
    void a_store_is_given_its_time_while_it_is_asked_not_while_another_name_is_waited_for() {
        AtomicBoolean away = new AtomicBoolean(true);
        LockClient half = clientWithout(away, Duration.ofSeconds(5));
        CompletableFuture<MultiLease> all = all(half, DEFAULTS.leaseFor(Duration.ofMillis(1_200)), "a", "b");
        CompletableFuture<Lease> between = acquire(other, "a");
        for (int i = 0; i < 30 && !between.isDone(); i++) {
            advance(100);
        }
        assertThat(between).isCompleted();
        away.set(false);
        advance(10_000);
        away.set(true);
        now(between).releaseAsync();
        advance(1_100);
        away.set(false);
        assertThat(all).isNotDone();
        for (int i = 0; i < 100 && !all.isDone(); i++) {
            advance(50);
        }
        assertThat(all).isCompleted();
        all.join().release();
    }

    /** Its store fails for every name but "a" while the flag is set. */
    private LockClient clientWithout(AtomicBoolean away, Duration storeTimeout) {
        LockClient half = LockClient.builder()
                .store(new ForwardingStore(probe("half")) {
                    @Override
                    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
                        return request.name().equals("a") || !away.get()
                                ? super.acquire(request)
                                : CompletableFuture.failedFuture(new StoreException(
                                        StoreException.Outcome.NOT_EXECUTED, "its server is away", null));
                    }
                })
                .timeSource(time)
                .leaseTime(LEASE)
                .storeTimeout(storeTimeout)
                .callbackExecutor(Runnable::run)
                .build();
        clients.add(half);
        return half;
    }

    @Test
    void none_is_kept_if_one_is_not_to_be_had() throws InterruptedException {
        Lease held = now(acquire(other, "b"));

        assertThat(client.tryAcquireAll(List.of("a", "b", "c"), DEFAULTS)).isEmpty();
        now(acquire(other, "a")).release();

        CompletableFuture<MultiLease> late = all(client, DEFAULTS.waitAtMost(Duration.ofSeconds(2)), "c", "b", "a");
        advance(1_999);
        assertThat(late).isNotDone();
        assertThat(other.tryAcquire("a")).isEmpty();
        advance(2);
        assertThat(late)
                .isCompletedExceptionally()
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockTimeoutException.class)
                .withMessageContaining("\"a\", \"b\", \"c\"")
                .withMessageContaining("within 2 s");
        now(acquire(other, "a")).release();
        held.release();
    }

    @Test
    void a_stage_that_tries_is_empty_where_others_hold_one_of_them() {
        Lease held = now(acquire(other, "b"));

        assertThat(tried(client.tryAcquireAllAsync(List.of("a", "b")))).isCompletedWithValue(Optional.empty());
        now(acquire(other, "a")).release();

        CompletableFuture<Optional<MultiLease>> late =
                tried(client.tryAcquireAllAsync(List.of("b", "a"), DEFAULTS.waitAtMost(Duration.ofSeconds(2))));
        advance(1_999);
        assertThat(late).isNotDone();
        advance(2);
        assertThat(late).isCompletedWithValue(Optional.empty());
        now(acquire(other, "a")).release();
        held.release();
    }

    @Test
    void a_stage_that_tries_has_the_leases_if_all_are_free_or_become_free() {
        Optional<MultiLease> atOnce =
                tried(client.tryAcquireAllAsync(List.of("b", "a"))).join();
        assertThat(atOnce.orElseThrow().leases()).extracting(Lease::name).containsExactly("a", "b");

        CompletableFuture<Optional<MultiLease>> next =
                tried(other.tryAcquireAllAsync(List.of("a", "b"), DEFAULTS.waitAtMost(Duration.ofSeconds(3))));
        assertThat(next).isNotDone();
        atOnce.get().release();
        advance(2_000);
        assertThat(next).isCompleted();
        next.join().orElseThrow().release();
    }

    @Test
    void a_stage_that_tries_and_is_cancelled_gives_back_what_is_held_and_withdraws_the_wait() {
        Lease b = now(acquire(other, "b"));
        CompletableFuture<Optional<MultiLease>> cancelled =
                tried(client.tryAcquireAllAsync(List.of("a", "b"), DEFAULTS.waitAtMost(Duration.ofSeconds(30))));
        assertThat(other.tryAcquire("a")).isEmpty();
        cancelled.cancel(false);

        now(acquire(other, "a")).release();
        b.release();
        now(acquire(other, "b")).release();
    }

    @Test
    void a_stage_that_tries_fails_with_its_store() {
        store.acquires = Fate.FAIL;
        CompletableFuture<Optional<MultiLease>> failed = tried(client.tryAcquireAllAsync(List.of("a", "b")));
        advance(20_000);
        assertThat(failed)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockStoreException.class);
        store.acquires = Fate.PASS;
    }

    /** Names that come free one after the other, each within the wait time: their sum is what counts. */
    @Test
    void there_is_one_deadline_for_all_of_them() {
        Lease a = now(acquire(other, "a"));
        Lease b = now(acquire(other, "b"));
        CompletableFuture<MultiLease> late = all(client, DEFAULTS.waitAtMost(Duration.ofSeconds(3)), "a", "b");
        advance(2_000);
        a.release();
        advance(900);
        assertThat(late).isNotDone();
        advance(101);
        assertThat(late).isCompletedExceptionally();
        b.release();
    }

    @Test
    void a_store_that_fails_is_no_timeout_and_what_was_taken_is_given_back() {
        store.acquires = Fate.PASS;
        Lease b = now(acquire(other, "b"));
        CompletableFuture<MultiLease> failed = all(client, DEFAULTS.waitAtMost(Duration.ofMinutes(1)), "a", "b");
        store.acquires = Fate.FAIL;
        advance(20_000);
        assertThat(failed)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockStoreException.class);
        store.acquires = Fate.PASS;
        now(acquire(other, "a")).release();
        b.release();
    }

    @Test
    void a_lease_that_ends_while_another_is_waited_for_begins_the_round_anew() {
        Lease b = now(acquire(other, "b"));
        CompletableFuture<MultiLease> all = all(client, DEFAULTS.leaseFor(Duration.ofSeconds(2)), "a", "b");
        advance(5_000);
        assertThat(all).isNotDone();
        b.release();
        for (int i = 0; i < 30 && !all.isDone(); i++) {
            advance(100);
        }
        assertThat(all).isCompleted();
        assertThat(all.join().isValid()).isTrue();
        all.join().release();
    }

    @Test
    void the_loss_of_one_is_the_loss_of_all_and_the_others_are_released() {
        MultiLease all = all(client, DEFAULTS, "a", "b", "c").join();
        all.onLost(lease -> events.add("lost " + lease.name()));
        assertThat(other.forceRelease("b")).isTrue();
        advance(1_100);

        assertThat(events).containsExactly("lost b");
        assertThat(all.isValid()).isFalse();
        assertThat(all.remaining()).isZero();
        assertThatThrownBy(all::ensureValid).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(all::release).isInstanceOf(LeaseLostException.class).hasMessageContaining("lease on \"b\"");
        now(acquire(other, "a")).release();
        now(acquire(other, "c")).release();
    }

    @Test
    void releasing_asynchronously_tells_of_a_loss_too() {
        MultiLease all = all(client, DEFAULTS, "a", "b").join();
        other.forceRelease("a");
        advance(1_100);
        assertThat(all.releaseAsync().toCompletableFuture())
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LeaseLostException.class);
        now(acquire(other, "b")).release();
    }

    @Test
    void cancelling_gives_back_what_is_held_and_withdraws_the_wait() {
        Lease b = now(acquire(other, "b"));
        CompletableFuture<MultiLease> cancelled = all(client, DEFAULTS, "a", "b");
        cancelled.cancel(false);
        now(acquire(other, "a")).release();
        b.release();
        now(acquire(other, "b")).release();
    }

    @Test
    void closing_the_client_ends_the_wait() {
        Lease b = now(acquire(other, "b"));
        CompletableFuture<MultiLease> waiting = all(client, DEFAULTS, "a", "b");
        Inside.engine(client).closeAsync();
        assertThat(waiting)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockClientClosedException.class);
        b.release();
    }

    /** The only test with a thread that waits: an interrupt leaves nothing behind. */
    @Test
    void an_interrupt_gives_back_what_is_held() throws InterruptedException {
        Lease b = now(acquire(other, "b"));
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        CountDownLatch done = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            try {
                var unused = client.acquireAll(List.of("a", "b"), DEFAULTS);
            } catch (Throwable e) {
                thrown.set(e);
            }
            done.countDown();
        });
        thread.start();
        org.awaitility.Awaitility.await()
                .until(() -> client.localLocks().stream()
                        .anyMatch(lock -> lock.name().equals("b") && lock.waiting() == 1));
        thread.interrupt();
        done.await();
        assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
        now(acquire(other, "a")).release();
        b.release();
    }

    @Test
    void bad_names_are_refused_before_anything_is_taken() {
        assertThatThrownBy(() -> client.acquireAll(List.of(), DEFAULTS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("none");
        assertThatThrownBy(() -> client.acquireAllAsync(List.of("a", " "), DEFAULTS))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(server.size()).isZero();
    }

    private static CompletableFuture<Optional<MultiLease>> tried(CompletionStage<Optional<MultiLease>> stage) {
        return stage.toCompletableFuture();
    }

    private static CompletableFuture<MultiLease> all(LockClient client, LockOptions options, String... names) {
        return client.acquireAllAsync(List.of(names), options).toCompletableFuture();
    }
}
