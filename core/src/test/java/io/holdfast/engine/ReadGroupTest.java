package io.holdfast.engine;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockTimeoutException;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** The hold that readers of one client share, in virtual time. */
class ReadGroupTest extends EngineFixture {

    /** Those whose end the engine sees. */
    private final Set<Thread> dead = new HashSet<>();

    private final ProbeStore probe = probe("readers");
    private final ProbeStore pools = requireNonNull(probe.pools);
    private final LockClient readers =
            client("readers", probe, settings -> settings.isAlive = thread -> !dead.contains(thread));
    private final LockClient other = client("other");

    private static CompletableFuture<Lease> read(LockClient by) {
        return by.acquireReadAsync("catalog").toCompletableFuture();
    }

    private static CompletableFuture<Lease> write(LockClient by) {
        return by.acquireWriteAsync("catalog").toCompletableFuture();
    }

    private Lease reader() {
        return now(read(readers));
    }

    /** A lease that this thread owns. */
    private ActiveLease ownedBy(Thread thread) {
        Waiter waiter = Inside.engine(readers)
                .pools()
                .submitOwned(PoolRequest.reading("catalog"), DEFAULTS, Waiter.Mode.PATIENT, thread);
        return (ActiveLease) waiter.leaseOrThrow();
    }

    private StoreState state() {
        return pools.server.inspect("rw:catalog").toCompletableFuture().join();
    }

    private void tellLoss(Lease lease, String who) {
        lease.onLost(() -> events.add(who));
    }

    // --- what is shared ---

    @Test
    void a_second_reader_costs_no_command_and_neither_does_its_end() {
        Lease first = reader();
        for (int i = 0; i < 100; i++) {
            Lease next = reader();
            assertThat(readers.tryAcquireRead("catalog")).hasValueSatisfying(Lease::release);
            next.release();
        }
        Lease last = reader();
        first.release();
        assertThat(pools.commands).containsExactly("acquire");
        last.ensureValid();
        last.release();
        assertThat(pools.commands).containsExactly("acquire", "release");
        assertThat(state()).isEqualTo(StoreState.free(0));
    }

    @Test
    void readers_that_wait_together_send_one_request_and_are_granted_together() {
        Lease writer = now(write(other));
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            waiting.add(read(readers));
        }
        waiting.remove(0).cancel(false);
        advance(5_000);
        assertThat(state().waiting()).isEqualTo(1);
        writer.release();
        advance(1);
        List<Lease> leases = new ArrayList<>();
        waiting.forEach(each -> leases.add(now(each)));
        assertThat(state().used()).isEqualTo(1);
        assertThat(leases).extracting(Lease::fencingToken).doesNotHaveDuplicates();
        leases.forEach(Lease::release);
        assertThat(pools.count("release")).isEqualTo(1);
    }

    @Test
    void all_share_the_renewals_of_the_hold() {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            leases.add(reader());
        }
        advance(10 * LEASE.toMillis());
        assertThat(pools.count("renew")).isBetween(20L, 40L);
        for (Lease lease : leases) {
            lease.ensureValid();
            lease.release();
            advance(LEASE.toMillis());
        }
        assertThat(pools.count("acquire")).isEqualTo(1);
        assertThat(pools.count("release")).isEqualTo(1);
    }

    @Test
    void a_reader_with_a_length_of_its_own_has_a_hold_of_its_own() {
        Lease shared = reader();
        Lease fixed = now(readers.acquireReadAsync("catalog", DEFAULTS.leaseFor(ofSeconds(1))));
        Lease limited = now(readers.acquireReadAsync("catalog", DEFAULTS.holdAtMost(ofSeconds(1))));
        assertThat(state().used()).isEqualTo(3);
        shared.release();
        advance(1_001);
        assertThat(fixed.isValid()).isFalse();
        assertThat(limited.isValid()).isFalse();
        assertThat(state().used()).isZero();
    }

    @Test
    void a_hold_of_which_little_is_left_is_not_entered() {
        Lease first = reader();
        pools.renews = Fate.REQUEST_FAILS;
        advance(LEASE.toMillis() - 700);
        Lease enters = reader();
        assertThat(pools.count("acquire")).isEqualTo(1);
        advance(200);
        Lease asks = reader();
        assertThat(pools.count("acquire")).isEqualTo(2);
        advance(500);
        assertThat(List.of(first, enters)).noneMatch(Lease::isValid);
        asks.ensureValid();
        pools.renews = Fate.PASS;
        pools.deliverRequests();
    }

    @Test
    void more_readers_than_a_hold_has_tokens_take_another_hold() {
        Lease first = reader();
        for (int i = 1; i < Hold.HAND_OFFS_MAX; i++) {
            read(readers).join().release();
        }
        assertThat(pools.commands).containsExactly("acquire");
        Lease next = reader();
        assertThat(pools.commands).containsExactly("acquire", "acquire");
        assertThat(next.fencingToken()).isGreaterThan(first.fencingToken());
    }

    // --- writers ---

    @Test
    void a_writer_elsewhere_that_waits_stops_new_readers_here() {
        Lease before = reader();
        CompletableFuture<Lease> writing = write(other);
        advance(1);
        CompletableFuture<Lease> behind = read(readers);
        assertThat(readers.tryAcquireRead("catalog")).isEmpty();
        advance(5 * LEASE.toMillis());
        assertBusy(writing);
        assertBusy(behind);
        before.release();
        advance(1);
        Lease writer = now(writing);
        assertBusy(behind);
        writer.release();
        advance(1);
        now(behind);
    }

    @Test
    void a_writer_of_this_client_stops_new_readers_at_once() {
        Lease before = reader();
        CompletableFuture<Lease> writing = write(readers);
        CompletableFuture<Lease> behind = read(readers);
        assertBusy(writing);
        assertBusy(behind);
        before.release();
        advance(1);
        assertBusy(behind);
        now(writing).release();
        advance(1);
        now(behind);
    }

    @Test
    void a_reader_does_not_join_those_that_wait_before_a_writer_of_this_client() {
        Lease all = now(write(other));
        CompletableFuture<Lease> before = read(readers);
        CompletableFuture<Lease> writing = write(readers);
        CompletableFuture<Lease> behind = read(readers);
        all.release();
        advance(1);
        now(before).release();
        advance(1);
        assertBusy(behind);
        now(writing).release();
        advance(1);
        now(behind);
    }

    @Test
    void an_attempt_to_write_does_not_keep_readers_from_sharing() {
        reader();
        assertThat(readers.tryAcquireWrite("catalog")).isEmpty();
        reader();
        assertThat(pools.count("acquire")).isEqualTo(2);
    }

    @Test
    void a_writer_is_not_starved_by_readers_of_one_client_that_overlap_for_ever() {
        Lease last = reader();
        CompletableFuture<Lease> writing = write(other);
        List<CompletableFuture<Lease>> behind = new ArrayList<>();
        for (int i = 0; i < 50 && !writing.isDone(); i++) {
            advance(5);
            CompletableFuture<Lease> next = read(readers);
            if (next.isDone()) {
                last.release();
                last = now(next);
            } else {
                last.release();
                behind.add(next);
            }
        }
        now(writing).release();
        advance(1);
        behind.forEach(this::now);
    }

    @Test
    void a_lost_message_that_a_writer_waits_is_found_by_the_next_renewal() {
        pools.messages = false;
        Lease last = reader();
        CompletableFuture<Lease> writing = write(other);
        CompletableFuture<Lease> next = read(readers);
        for (int i = 0; next.isDone() && i < 1_000; i++) {
            last.release();
            last = now(next);
            advance(10);
            next = read(readers);
        }
        assertBusy(next);
        assertThat(pools.count("renew")).isEqualTo(1);
        last.release();
        advance(1);
        now(writing).release();
        pools.messages = true;
        advance(2_000);
        now(next);
    }

    @Test
    void a_hold_that_is_granted_while_a_writer_waits_is_not_entered_by_others() {
        Lease all = now(write(other));
        CompletableFuture<Lease> first = read(readers);
        CompletableFuture<Lease> second = read(readers);
        CompletableFuture<Lease> writing = write(other);
        all.release();
        advance(1);
        now(first);
        now(second);
        pools.messages = false;
        CompletableFuture<Lease> third = read(readers);
        assertBusy(third);
        assertBusy(writing);
        pools.messages = true;
    }

    @Test
    void one_attempt_joins_no_wait_and_hears_what_the_store_says() {
        pools.acquires = Fate.REQUEST_HELD;
        CompletableFuture<Lease> first = read(readers);
        CompletableFuture<Optional<Lease>> attempt =
                readers.tryAcquireReadAsync("catalog").toCompletableFuture();
        pools.acquires = Fate.PASS;
        pools.deliverRequests();
        now(first);
        assertThat(attempt.join()).isPresent();

        CompletableFuture<Lease> writing = write(other);
        advance(1);
        assertThat(readers.tryAcquireReadAsync("catalog").toCompletableFuture().join())
                .isEmpty();
        assertBusy(writing);
    }

    // --- ends ---

    @Test
    void a_loss_reaches_each_reader_once_and_no_reader_of_another_client() {
        Lease first = reader();
        Lease second = reader();
        Lease gone = reader();
        Lease elsewhere = now(read(other));
        tellLoss(first, "first");
        tellLoss(second, "second");
        tellLoss(gone, "gone");
        tellLoss(elsewhere, "elsewhere");
        gone.release();
        pools.server.forceRelease("rw:catalog", first.holderId());
        advance(1);
        assertThat(events).containsExactly("first", "second");
        assertThat(List.of(first, second)).noneMatch(Lease::isValid);
        assertThatThrownBy(first::release).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(second::release).isInstanceOf(LeaseLostException.class);
        elsewhere.ensureValid();
        Lease after = reader();
        advance(5 * LEASE.toMillis());
        after.ensureValid();
        assertThat(events).hasSize(2);
    }

    @Test
    void the_end_of_the_lease_ends_all() {
        Lease first = reader();
        Lease second = reader();
        tellLoss(first, "first");
        tellLoss(second, "second");
        pools.renews = Fate.REQUEST_FAILS;
        pools.abandons = Fate.REQUEST_FAILS;
        advance(LEASE.toMillis());
        assertThat(second.isValid()).isFalse();
        assertThat(first.isValid()).isFalse();
        assertThat(events).containsExactly("first", "second");
        pools.renews = Fate.PASS;
        pools.abandons = Fate.PASS;
        pools.deliverRequests();
    }

    @Test
    void a_release_by_force_through_this_client_is_entered_by_nobody() {
        Lease first = reader();
        pools.forces = Fate.REQUEST_HELD;
        CompletableFuture<?> forced = CompletableFuture.runAsync(
                () -> readers.getReadWriteLock("catalog").readLock().forceUnlock());
        while (pools.count("force") == 0) {
            Thread.onSpinWait();
        }
        CompletableFuture<Lease> next = read(readers);
        assertThat(pools.count("acquire")).isEqualTo(2);
        tellLoss(first, "first");
        pools.deliverRequests();
        forced.join();
        assertThat(events).containsExactly("first");
        advance(2_000);
        now(next);
    }

    @Test
    void a_dead_thread_is_not_renewed_with_the_living_and_stops_no_writer() {
        Thread doomed = new Thread(() -> {});
        Thread healthy = new Thread(() -> {});
        ActiveLease lost = ownedBy(doomed);
        ActiveLease kept = ownedBy(healthy);
        tellLoss(lost, "dead");
        tellLoss(kept, "alive");
        dead.add(doomed);
        advance(LEASE.toMillis() * 2 / 3);
        assertThat(events).containsExactly("dead");
        kept.ensureValid();
        advance(5 * LEASE.toMillis());
        kept.ensureValid();
        CompletableFuture<Lease> writing = write(other);
        kept.release();
        advance(1);
        now(writing).release();
        assertThat(events).containsExactly("dead");
    }

    @Test
    void a_hold_of_dead_threads_alone_runs_out() {
        Thread doomed = new Thread(() -> {});
        ActiveLease first = ownedBy(doomed);
        Lease second = reader();
        tellLoss(first, "dead");
        dead.add(doomed);
        second.release();
        CompletableFuture<Lease> writing = write(other);
        advance(LEASE.toMillis() + 1_500);
        assertThat(events).containsExactly("dead");
        now(writing);
    }

    @Test
    void a_reader_that_enters_beside_a_dead_thread_is_renewed() {
        Thread doomed = new Thread(() -> {});
        ownedBy(doomed);
        dead.add(doomed);
        Lease second = reader();
        advance(5 * LEASE.toMillis());
        second.ensureValid();
    }

    /** A hold that is extended again and again has no renewal that is due. */
    @Test
    void a_dead_thread_is_not_extended_with_the_living() {
        Thread doomed = new Thread(() -> {});
        ActiveLease lost = ownedBy(doomed);
        Lease second = reader();
        tellLoss(lost, "dead");
        dead.add(doomed);
        second.extendAsync(LEASE).toCompletableFuture().join();
        assertThat(events).containsExactly("dead");
        second.ensureValid();
    }

    /** No renewal of that hold tells of a writer. */
    @Test
    void a_reader_does_not_enter_on_the_hold_of_a_dead_thread_in_front_of_a_writer() {
        Thread doomed = new Thread(() -> {});
        ownedBy(doomed);
        dead.add(doomed);
        pools.messages = false;
        CompletableFuture<Lease> writing = write(other);
        advance(LEASE.toMillis() * 2 / 5);
        pools.messages = true;
        CompletableFuture<Lease> reading = read(readers);
        advance(1);
        assertThat(reading).isNotDone();
        advance(LEASE.toMillis());
        now(writing).release();
        advance(1);
        now(reading).release();
    }

    @Test
    void an_extension_is_that_of_the_hold_whichever_reader_asks() {
        Lease first = reader();
        Lease second = reader();
        second.extendAsync(ofSeconds(60)).toCompletableFuture().join();
        assertThat(second.remaining()).isGreaterThan(ofSeconds(58));
        assertThat(first.remaining()).isGreaterThan(ofSeconds(58));
        // If this process died, a reader that has just come would stop writers for a minute.
        Lease third = reader();
        assertThat(third.remaining()).isLessThanOrEqualTo(LEASE);
        second.release();
        first.release();
        third.release();
        assertThat(state().used()).isZero();
    }

    @Test
    void two_extensions_at_once_both_count() {
        Lease first = reader();
        Lease second = reader();
        pools.renews = Fate.REPLY_HELD;
        CompletableFuture<Void> one = first.extendAsync(ofSeconds(60)).toCompletableFuture();
        CompletableFuture<Void> two = second.extendAsync(ofSeconds(30)).toCompletableFuture();
        first.release();
        pools.deliverReplies();
        pools.renews = Fate.PASS;
        assertThat(one).isCompletedExceptionally();
        assertThat(two).isCompleted();
        assertThat(second.remaining()).isGreaterThan(ofSeconds(29));
    }

    @Test
    void the_lock_stays_locked_for_as_long_as_any_reader_wanted() {
        Lease first = reader();
        Lease second = reader();
        Lease third = reader();
        first.releaseHoldingAtLeastAsync(ofSeconds(10)).toCompletableFuture().join();
        second.releaseHoldingAtLeastAsync(ofSeconds(5)).toCompletableFuture().join();
        assertThat(pools.commands).containsExactly("acquire");
        advance(1_000);
        third.release();
        CompletableFuture<Lease> writing = write(other);
        advance(8_900);
        assertBusy(writing);
        advance(1_200);
        now(writing);
    }

    @Test
    void a_wait_has_its_own_end() {
        now(write(other));
        CompletableFuture<Lease> brief =
                readers.acquireReadAsync("catalog", ofMillis(500)).toCompletableFuture();
        CompletableFuture<Lease> longer =
                readers.acquireReadAsync("catalog", ofSeconds(2)).toCompletableFuture();
        CompletableFuture<Lease> patient = read(readers);
        advance(501);
        assertThat(brief)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockTimeoutException.class);
        assertBusy(longer);
        advance(1_500);
        assertThat(longer).isCompletedExceptionally();
        assertBusy(patient);
        patient.cancel(false);
        assertThat(state().waiting()).isZero();
        assertThat(Inside.engine(readers).pools().lanes()).isZero();
    }

    @Test
    void a_store_that_fails_fails_all_that_wait() {
        pools.acquires = Fate.REQUEST_FAILS;
        pools.failure = new StoreException(StoreException.Outcome.FATAL, "store: no", null);
        CompletableFuture<Lease> first = read(readers);
        CompletableFuture<Lease> second = read(readers);
        pools.deliverRequests();
        assertThat(List.of(first, second)).allMatch(CompletableFuture::isCompletedExceptionally);
        pools.acquires = Fate.PASS;
        reader();
    }

    @Test
    void a_close_ends_all_and_leaves_the_lock_to_work_that_goes_on() {
        Lease asynchronous = reader();
        Thread worker = new Thread(LockSupport::park);
        worker.start();
        ActiveLease working = ownedBy(worker);
        tellLoss(asynchronous, "asynchronous");
        tellLoss(working, "working");
        CompletableFuture<Lease> writing = write(other);
        Inside.engine(readers).closeAsync();
        assertThat(events).containsExactly("asynchronous", "working");
        assertThat(read(readers))
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockClientClosedException.class);
        advance(LEASE.toMillis() / 2);
        assertBusy(writing);
        advance(LEASE.toMillis() / 2 + 1_500);
        now(writing);
        LockSupport.unpark(worker);
    }
}
