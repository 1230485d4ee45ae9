package io.holdfast.engine;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockException;
import io.holdfast.LockListener;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Several names by one command: what crosses it, and what becomes of names that are not free. */
class MultiAttemptTest extends EngineFixture {

    private static final List<String> NAMES = List.of("a", "b", "c");

    private final LockClient other = client("two");

    MultiAttemptTest() {
        store.together = true;
    }

    @Test
    void free_names_cost_one_command() throws InterruptedException {
        MultiLease all = client.acquireAll(List.of("c", "a", "b", "a"), DEFAULTS);
        assertThat(store.commands).containsExactly("together");
        assertThat(all.leases()).extracting(Lease::name).containsExactly("a", "b", "c");
        assertThat(all.leases()).extracting(Lease::fencingToken).doesNotHaveDuplicates();
        for (String name : NAMES) {
            assertThat(other.tryAcquire(name)).isEmpty();
        }
        advance(10_000);
        assertThat(all.isValid()).isTrue();
        all.release();
        for (String name : NAMES) {
            now(acquire(other, name)).release();
        }
    }

    @Test
    void the_leases_count_from_the_sending() {
        store.acquires = Fate.REPLY_HELD;
        CompletableFuture<MultiLease> all = all(DEFAULTS);
        advance(700);
        store.deliverReplies();
        assertThat(all.join().remaining().toMillis()).isEqualTo(3_000 - 32 - 700);
    }

    @Test
    void one_attempt_that_finds_a_name_busy_is_one_command_and_leaves_nothing() throws InterruptedException {
        List<String> refused = new ArrayList<>();
        ProbeStore behind = probe("told");
        behind.together = true;
        LockClient told = client(
                "told",
                behind,
                settings -> settings.listeners = List.of(new LockListener() {
                    @Override
                    public void notAcquired(String name, Duration waited, Outcome outcome, String why) {
                        refused.add(name + " " + outcome);
                    }
                }));
        Lease held = now(acquire(other, "b"));
        assertThat(told.tryAcquireAll(NAMES, DEFAULTS)).isEmpty();
        assertThat(behind.commands).containsExactly("together");
        assertThat(refused).containsExactly("b TIMED_OUT");
        now(acquire(other, "a")).release();
        held.release();
    }

    @Test
    void who_waits_in_a_queue_comes_first() {
        ActiveLease held = now(acquire(client, "b"));
        CompletableFuture<Lease> waiting = acquire(other, "b");
        advance(10);
        // It has run out: free, but somebody waits.
        store.renews = Fate.FAIL;
        advance(2_968);
        assertThat(held.isValid()).isFalse();
        advance(31);
        store.renews = Fate.PASS;
        CompletableFuture<MultiLease> all = all(DEFAULTS);
        advance(100);
        assertThat(now(waiting).isValid()).isTrue();
        assertThat(all).isNotDone();
        now(waiting).release();
        advance(100);
        all.join().release();
    }

    @Test
    void names_that_are_not_free_are_waited_for_one_by_one() {
        Lease held = now(acquire(other, "b"));
        CompletableFuture<MultiLease> all = all(DEFAULTS);
        assertThat(store.count("together")).isEqualTo(1);
        assertThat(all).isNotDone();
        held.release();
        advance(1);
        assertThat(all).isCompleted();
        all.join().release();
    }

    @Test
    void a_name_in_use_here_is_not_asked_for_together() {
        Lease held = now(acquire(client, "b"));
        store.commands.clear();
        CompletableFuture<MultiLease> all = all(DEFAULTS);
        assertThat(store.count("together")).isZero();
        assertThat(store.count("abandon")).isZero();
        held.release();
        assertThat(all).isCompleted();
        all.join().release();
    }

    @Test
    void who_comes_meanwhile_waits_and_is_served_whatever_the_answer() {
        store.acquires = Fate.REPLY_HELD;
        CompletableFuture<MultiLease> all = all(DEFAULTS);
        CompletableFuture<Lease> next = acquire(client, "b");
        store.acquires = Fate.PASS;
        store.deliverReplies();
        assertThat(next).isNotDone();
        all.join().release();
        now(next).release();

        Lease held = now(acquire(other, "a"));
        store.acquires = Fate.REPLY_HELD;
        CompletableFuture<MultiLease> busy = all(DEFAULTS.waitAtMost(Duration.ZERO));
        CompletableFuture<Lease> patient = acquire(client, "b");
        assertThat(patient).isNotDone();
        store.acquires = Fate.PASS;
        store.deliverReplies();
        assertThat(busy).isCompletedExceptionally();
        now(patient).release();
        held.release();
    }

    @Test
    void cancelling_on_the_way_leaves_nothing_whatever_comes_first() {
        for (Fate fate : List.of(Fate.REPLY_HELD, Fate.REQUEST_HELD)) {
            store.acquires = fate;
            all(DEFAULTS).cancel(false);
            store.acquires = Fate.PASS;
            store.deliverRequests();
            store.deliverReplies();
            for (String name : NAMES) {
                now(acquire(other, name)).release();
            }
        }
    }

    @Test
    void an_unknown_outcome_is_withdrawn_for_each_name_and_the_wait_goes_on() {
        store.failure = new StoreException(StoreException.Outcome.UNKNOWN, "cut off", null);
        store.acquires = Fate.FAIL;
        CompletableFuture<MultiLease> all = all(DEFAULTS.waitAtMost(ofSeconds(10)));
        assertThat(store.count("together")).isEqualTo(1);
        assertThat(store.count("abandon")).isEqualTo(3);
        advance(1_000);
        store.acquires = Fate.PASS;
        advance(1_000);
        all.join().release();
    }

    @Test
    void one_attempt_that_fails_is_an_error() {
        store.acquires = Fate.FAIL;
        assertThatThrownBy(() -> client.tryAcquireAll(NAMES, DEFAULTS))
                .isInstanceOf(LockStoreException.class)
                .hasMessageContaining("down");
        assertThatThrownBy(() -> all(DEFAULTS.waitAtMost(Duration.ZERO)).join())
                .hasCauseInstanceOf(LockStoreException.class);
        assertThat(store.count("acquire")).isZero();
    }

    @Test
    void the_wait_time_bounds_the_wait_for_the_one_answer_too() {
        for (Fate fate : List.of(Fate.REQUEST_HELD, Fate.REPLY_HELD)) {
            store.acquires = fate;
            CompletableFuture<MultiLease> all = all(DEFAULTS.waitAtMost(ofSeconds(1)));
            advance(1_001);
            assertThatThrownBy(all::join).hasCauseInstanceOf(LockStoreException.class);
            assertThat(store.count("acquire")).isZero();
            store.acquires = Fate.PASS;
            store.deliverRequests();
            store.deliverReplies();
            for (String name : NAMES) {
                now(acquire(other, name)).release();
            }
        }
    }

    @Test
    void a_grant_that_comes_too_late_is_given_back() {
        store.acquires = Fate.REPLY_HELD;
        CompletableFuture<MultiLease> all = all(DEFAULTS.leaseFor(ofSeconds(1)));
        advance(2_000);
        store.acquires = Fate.PASS;
        store.deliverReplies();
        assertThat(all.join().isValid()).isTrue();
        all.join().release();
    }

    @Test
    void closing_on_the_way_fails_the_wait_and_leaves_nothing() {
        store.acquires = Fate.REPLY_HELD;
        CompletableFuture<MultiLease> all = all(DEFAULTS);
        Inside.engine(client).closeAsync();
        assertThatThrownBy(all::join).hasCauseInstanceOf(LockClientClosedException.class);
        store.deliverReplies();
        now(acquire(other, "a")).release();
    }

    @Test
    void an_interrupt_on_the_way_leaves_nothing() throws InterruptedException {
        store.acquires = Fate.REPLY_HELD;
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread thread = new Thread(() -> {
            try {
                var unused = client.acquireAll(NAMES, DEFAULTS);
            } catch (Throwable e) {
                thrown.set(e);
            }
        });
        thread.start();
        await().until(() -> thread.getState() == Thread.State.WAITING && store.count("together") == 1);
        thread.interrupt();
        thread.join();
        assertThat(thrown.get()).isInstanceOf(InterruptedException.class);
        store.deliverReplies();
        for (String name : NAMES) {
            now(acquire(other, name)).release();
        }
    }

    // --- errors of the one command ---

    @Test
    void an_error_about_one_name_is_none_of_those_who_wait_here_for_another() {
        CompletableFuture<AcquireAllReply> answer = new CompletableFuture<>();
        LockClient here = client("here", answering("here", requests -> answer), settings -> {});
        CompletableFuture<MultiLease> all = all(here, DEFAULTS.waitAtMost(Duration.ZERO));
        CompletableFuture<Lease> patient = acquire(here, "b");
        answer.completeExceptionally(new StoreException(StoreException.Outcome.FATAL, "a: a list is in the way", null));
        assertThatThrownBy(all::join)
                .hasCauseInstanceOf(LockStoreException.class)
                .hasMessageContaining("a list is in the way");
        now(patient).release();
    }

    @Test
    void a_failure_is_not_the_last_word_for_those_who_wait_here_meanwhile() {
        Lease held = now(acquire(other, "b"));
        CompletableFuture<AcquireAllReply> answer = new CompletableFuture<>();
        LockClient here = client("here", answering("here", requests -> answer), settings -> {});
        CompletableFuture<MultiLease> all = all(here, DEFAULTS.waitAtMost(Duration.ZERO));
        CompletableFuture<Lease> patient = acquire(here, "b", DEFAULTS.waitAtMost(Duration.ofMillis(20)));
        answer.completeExceptionally(new StoreException(StoreException.Outcome.NOT_EXECUTED, "down", null));
        assertThat(all).isCompletedExceptionally();
        advance(21);
        assertThatThrownBy(patient::join).hasCauseInstanceOf(LockTimeoutException.class);
        held.release();
    }

    @Test
    void a_command_executed_after_it_failed_is_withdrawn_although_others_wait_here() {
        LockStore late = probe("here");
        LockClient here = client(
                "here",
                answering("here", requests -> {
                    time.schedule(2_000_000_000, () -> late.acquireAll(requests));
                    return CompletableFuture.failedFuture(
                            new StoreException(StoreException.Outcome.UNKNOWN, "cut off", null));
                }),
                settings -> {});
        CompletableFuture<MultiLease> all =
                all(here, DEFAULTS.waitAtMost(Duration.ZERO).leaseFor(ofSeconds(60)));
        assertThat(all).isCompletedExceptionally();
        now(acquire(here, "b")).release();
        advance(2_100);
        assertThat(acquire(other, "a", DEFAULTS.waitAtMost(Duration.ZERO))).isCompletedExceptionally();
        advance(3_000);
        for (String name : NAMES) {
            now(acquire(other, name)).release();
        }
    }

    @Test
    void a_store_that_did_not_answer_is_an_error_also_when_the_wait_is_over_before_it_fails_again() throws Exception {
        LockOptions options = DEFAULTS.waitAtMost(ofSeconds(4));
        CompletableFuture<MultiLease> stage = all(client("here", silent("here"), settings -> {}), options);
        advance(4_001);
        assertThatThrownBy(stage::join)
                .hasCauseInstanceOf(LockStoreException.class)
                .hasMessageContaining("did not answer");

        ProbeStore silent = silent("there");
        LockClient there = client("there", silent, settings -> {});
        AtomicReference<Object> result = new AtomicReference<>();
        Thread thread = new Thread(() -> {
            try {
                result.set(there.tryAcquireAll(NAMES, options));
            } catch (LockException | InterruptedException e) {
                result.set(e);
            }
        });
        thread.start();
        await().until(() -> thread.getState() == Thread.State.WAITING && silent.count("together") == 1);
        advance(3_000);
        await().until(() -> thread.getState() == Thread.State.WAITING && silent.count("acquire") == 1);
        advance(1_001);
        thread.join();
        assertThat(result.get()).isInstanceOf(LockStoreException.class);
    }

    @Test
    void a_store_that_failed_and_then_said_busy_for_the_rest_of_the_wait_is_no_error() {
        Lease held = now(acquire(other, "a"));
        LockClient here = client(
                "here",
                answering(
                        "here",
                        requests -> CompletableFuture.failedFuture(
                                new StoreException(StoreException.Outcome.UNKNOWN, "cut off", null))),
                settings -> {});
        CompletableFuture<MultiLease> all = all(here, DEFAULTS.waitAtMost(ofSeconds(2)));
        advance(2_001);
        assertThatThrownBy(all::join).hasCauseInstanceOf(LockTimeoutException.class);
        held.release();
    }

    @Test
    void an_answer_for_another_number_of_names_is_an_error_and_leaves_nothing() {
        LockStore real = probe("here");
        LockClient here = client(
                "here",
                answering(
                        "here",
                        requests -> real.acquireAll(requests)
                                .thenApply(reply ->
                                        AcquireAllReply.taken(reply.granted().subList(0, 2)))),
                settings -> {});
        CompletableFuture<MultiLease> all = all(here, DEFAULTS.waitAtMost(Duration.ZERO));
        assertThat(all).isDone();
        assertThatThrownBy(all::join)
                .hasCauseInstanceOf(LockStoreException.class)
                .hasMessageContaining("2 grants for 3 names");
        for (String name : NAMES) {
            now(acquire(other, name)).release();
        }
    }

    private interface Answer {
        CompletionStage<AcquireAllReply> to(List<AcquireRequest> requests);
    }

    /** Gives the one command a set answer; all other answers are real. */
    private ProbeStore answering(String id, Answer answer) {
        ProbeStore made = new ProbeStore(new ForwardingStore(probe(id)) {
            @Override
            public CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
                return answer.to(requests);
            }
        });
        made.together = true;
        return made;
    }

    /** No acquire is answered; the driver says so after three seconds. */
    private ProbeStore silent(String id) {
        ProbeStore made = new ProbeStore(new ForwardingStore(probe(id)) {
            @Override
            public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
                return unanswered();
            }

            @Override
            public CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
                return unanswered();
            }
        });
        made.together = true;
        return made;
    }

    private <T> CompletionStage<T> unanswered() {
        CompletableFuture<T> answer = new CompletableFuture<>();
        time.schedule(
                3_000_000_000L,
                () -> answer.completeExceptionally(
                        new StoreException(StoreException.Outcome.UNKNOWN, "the server did not answer", null)));
        return answer;
    }

    private CompletableFuture<MultiLease> all(LockOptions options) {
        return all(client, options);
    }

    private static CompletableFuture<MultiLease> all(LockClient client, LockOptions options) {
        return client.acquireAllAsync(NAMES, options).toCompletableFuture();
    }
}
