package io.holdfast.engine;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.LockTimeoutException;
import io.holdfast.Permits;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Permits: limits, order, expiry, loss, the gate, and the end of waits, of several clients in virtual time. */
class PermitsTest extends EngineFixture {

    private final LockClient other = client("other");
    private final Permits exports = client.permits("export", 5);
    private final Permits others = other.permits("export", 5);
    private final ProbeStore pools = requireNonNull(store.pools);

    private static CompletableFuture<Lease> ask(Permits permits) {
        return ask(permits, DEFAULTS);
    }

    private static CompletableFuture<Lease> ask(Permits permits, LockOptions options) {
        return permits.acquireAsync(options).toCompletableFuture();
    }

    private Lease take(Permits permits) {
        return now(ask(permits));
    }

    private List<Lease> takeAll(Permits permits) {
        List<Lease> all = new ArrayList<>();
        for (int i = 0; i < permits.limit(); i++) {
            all.add(take(permits));
        }
        return all;
    }

    /** As the store knows them. */
    private StoreState state() {
        return pools.server.inspect("p:export").toCompletableFuture().join();
    }

    // --- limit and order ---

    @Test
    void as_many_are_held_at_once_as_the_limit_says_over_all_clients() {
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            held.add(take(i % 2 == 0 ? exports : others));
        }
        CompletableFuture<Lease> sixth = ask(others);
        assertThat(exports.tryAcquire()).isEmpty();
        advance(10 * LEASE.toMillis());
        assertBusy(sixth);
        held.forEach(Lease::ensureValid);
        assertThat(held).extracting(Lease::fencingToken).doesNotHaveDuplicates();

        held.get(0).release();
        advance(1);
        Lease next = now(sixth);
        assertThat(next.fencingToken())
                .isGreaterThan(
                        held.stream().mapToLong(Lease::fencingToken).max().orElseThrow());
        assertThat(state().used()).isEqualTo(5);
    }

    @Test
    void a_permit_costs_two_commands_and_no_hand_off_keeps_it_here() {
        pools.details = true;
        take(exports).release();
        assertThat(pools.commands).containsExactly("acquire", "release");
        assertThat(store.commands).isEmpty();

        Lease all = take(exports.weight(5));
        CompletableFuture<Lease> elsewhere = ask(others);
        CompletableFuture<Lease> here = ask(exports.weight(5));
        all.release();
        advance(1);
        now(elsewhere).release();
        advance(1);
        now(here).release();
        // One acquire for each and one message; no poll was due.
        assertThat(pools.count("acquire")).isEqualTo(3);
        assertThat(pools.count("abandon")).isZero();
        assertThat(pools.count("requeue")).isZero();
    }

    @Test
    void weights_count() {
        Lease three = take(exports.weight(3));
        assertThat(others.weight(3).tryAcquire()).isEmpty();
        Lease two = take(others.weight(2));
        assertThat(exports.tryAcquire()).isEmpty();
        assertThat(state().held()).extracting(StoreState.Held::weight).containsExactlyInAnyOrder(2, 3);
        three.release();
        take(exports.weight(3)).release();
        two.release();
        assertThat(state()).isEqualTo(StoreState.free(0));
    }

    @Test
    void a_small_request_does_not_overtake_a_large_one() {
        Lease two = take(exports.weight(2));
        CompletableFuture<Lease> large = ask(others.weight(4));
        CompletableFuture<Lease> small = ask(exports);
        advance(5_000);
        assertBusy(large);
        assertBusy(small);
        assertThat(others.tryAcquire()).isEmpty();

        two.release();
        advance(1);
        now(large);
        now(small);
    }

    @Test
    void a_large_request_that_is_withdrawn_lets_those_behind_it_in() {
        take(exports.weight(2));
        CompletableFuture<Lease> large = ask(others.weight(4));
        CompletableFuture<Lease> small = ask(exports);
        large.cancel(false);
        advance(1);
        now(small);
        assertThat(state().waiting()).isZero();
    }

    @Test
    void callers_with_two_limits_are_each_served_by_their_own() {
        Permits few = other.permits("export", 2);
        List<Lease> held = takeAll(exports);
        CompletableFuture<Lease> one = ask(few);
        for (int i = 0; i < 3; i++) {
            held.get(i).release();
            advance(1);
            assertBusy(one);
        }
        held.get(3).release();
        advance(1);
        now(one);
        held.get(4).ensureValid();
    }

    @Test
    void permits_and_the_lock_of_their_name_are_two_things() {
        Lease lock = now(acquire(client, "export"));
        List<Lease> held = takeAll(exports);
        Lease ofPrefix = now(acquire(other, "p:export"));
        assertThat(held).allMatch(Lease::isValid);
        assertThat(lock.isValid()).isTrue();
        assertThat(ofPrefix.isValid()).isTrue();
        assertThat(client.inspect("export").holder()).contains(lock.holderId());
        assertThat(client.localLocks())
                .extracting(LocalLock::name)
                .containsOnlyOnce("export")
                .hasSize(6);
        assertThat(held.get(0).name()).isEqualTo("export");
        assertThat(held).noneMatch(Lease::isExclusive);
        assertThat(lock.isExclusive()).isTrue();
        List<String> ids = new ArrayList<>(List.of(lock.holderId()));
        held.forEach(each -> ids.add(each.holderId()));
        assertThat(ids).doesNotHaveDuplicates();
    }

    // --- ends ---

    @Test
    void permits_are_renewed_together_and_released_by_any_thread() throws Exception {
        List<Lease> held = takeAll(exports);
        advance(20 * LEASE.toMillis());
        held.forEach(Lease::ensureValid);
        // By one timer: five renewals come together each third of a lease.
        assertThat(pools.renewals.size()).isBetween(5 * 40, 5 * 80);
        Thread thread = new Thread(() -> held.forEach(Lease::release));
        thread.start();
        thread.join(60_000);
        assertThat(state()).isEqualTo(StoreState.free(0));
        assertThat(Inside.engine(client).size()).isZero();
    }

    @Test
    void the_permit_of_a_client_that_has_died_is_free_after_its_lease() {
        Lease lost = take(exports.weight(3));
        take(exports.weight(2)).onLost(() -> events.add("lost"));
        CompletableFuture<Lease> waiting = ask(others.weight(2));
        pools.renews = Fate.REQUEST_FAILS;
        pools.abandons = Fate.REQUEST_FAILS;
        advance(LEASE.toMillis());
        assertThat(lost.isValid()).isFalse();
        assertThat(events).containsExactly("lost");
        assertThatThrownBy(lost::release).isInstanceOf(LeaseLostException.class);
        advance(1_500);
        now(waiting);
        pools.abandons = Fate.PASS;
        pools.deliverRequests();
    }

    @Test
    void a_permit_that_was_ended_by_force_is_lost_and_the_others_are_not() {
        List<Lease> held = takeAll(exports);
        held.get(2).onLost(() -> events.add("lost"));
        requireNonNull(probe("tool").pools).forceRelease("p:export", held.get(2).holderId());
        advance(1);
        assertThat(events).containsExactly("lost");
        assertThat(held).filteredOn(Lease::isValid).hasSize(4);
        take(others);
    }

    @Test
    void a_fixed_length_ends_here_and_at_the_store() {
        Lease fixed = now(ask(exports, DEFAULTS.leaseFor(ofSeconds(1))));
        Lease limited = now(ask(exports, DEFAULTS.holdAtMost(ofSeconds(5))));
        advance(1_001);
        assertThat(fixed.isValid()).isFalse();
        assertThat(state().used()).isEqualTo(1);
        advance(3_000);
        assertThat(limited.isValid()).isTrue();
        advance(1_000);
        assertThat(limited.isValid()).isFalse();
        assertThat(state()).isEqualTo(StoreState.free(0));
    }

    @Test
    void a_permit_that_comes_by_a_message_gets_the_length_that_was_asked_for() {
        pools.details = true;
        Lease all = take(exports.weight(5));
        CompletableFuture<Lease> fixed = ask(exports, DEFAULTS.leaseFor(ofSeconds(30)));
        all.release();
        advance(1);
        assertThat(now(fixed).remaining()).isGreaterThan(ofSeconds(29));
        advance(20_000);
        assertThat(state().used()).isEqualTo(1);
    }

    @Test
    void a_permit_can_stay_taken_after_its_release() {
        Lease held = take(exports.weight(5));
        held.releaseHoldingAtLeast(ofSeconds(10));
        assertThat(others.tryAcquire()).isEmpty();
        CompletableFuture<Lease> waiting = ask(others);
        advance(9_000);
        assertBusy(waiting);
        advance(2_500);
        now(waiting);
    }

    @Test
    void a_lease_is_extended_by_itself() {
        Lease fixed = now(ask(exports, DEFAULTS.leaseFor(ofSeconds(1))));
        Lease beside = now(ask(exports, DEFAULTS.leaseFor(ofSeconds(1))));
        fixed.extend(ofSeconds(4));
        advance(1_500);
        assertThat(fixed.isValid()).isTrue();
        assertThat(beside.isValid()).isFalse();
    }

    // --- grants ---

    @Test
    void each_of_several_grants_finds_its_own_caller() {
        for (boolean details : new boolean[] {false, true}) {
            pools.details = details;
            Lease all = take(exports.weight(5));
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                waiting.add(ask(exports));
            }
            all.release();
            advance(1);
            waiting.forEach(each -> now(each).release());
            assertThat(pools.count("abandon")).isZero();
        }
    }

    @Test
    void a_grant_for_a_caller_that_has_left_is_passed_on() {
        Lease all = take(exports.weight(5));
        CompletableFuture<Lease> leaving = ask(exports.weight(3));
        CompletableFuture<Lease> behind = ask(others.weight(5));
        pools.messages = false;
        all.release();
        advance(1);
        assertThat(state().used()).isEqualTo(3);
        leaving.cancel(false);
        advance(1);
        now(behind);
    }

    @Test
    void an_acquire_that_is_executed_after_its_caller_left_takes_nothing_for_long() {
        pools.acquires = Fate.REQUEST_HELD;
        CompletableFuture<Lease> leaving = ask(exports.weight(5));
        leaving.cancel(false);
        pools.acquires = Fate.PASS;
        pools.deliverRequests();
        assertThat(state()).isEqualTo(StoreState.free(0));
        assertThat(Inside.engine(client).size()).isZero();
    }

    @Test
    void a_grant_of_an_id_that_nobody_here_knows_is_withdrawn() {
        take(exports);
        String unknown = HolderId.of("one", 1_000_000);
        requireNonNull(pools.listener).granted("p:export", unknown);
        // It was not made here: somebody who may publish sent it.
        assertThat(pools.count("abandon")).isZero();

        Lease all = take(exports.weight(4));
        String released = all.holderId();
        all.release();
        requireNonNull(pools.listener).granted("p:export", released);
        assertThat(pools.count("abandon")).isEqualTo(1);
    }

    @Test
    void a_missed_message_costs_a_poll() {
        pools.messages = false;
        Lease all = take(exports.weight(5));
        CompletableFuture<Lease> waiting = ask(exports);
        all.release();
        advance(1_000);
        now(waiting);
    }

    // --- the gate ---

    @Test
    void sixteen_of_a_client_ask_and_the_others_wait_for_them() {
        Lease all = take(others.weight(5));
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            waiting.add(ask(exports));
        }
        advance(5_000);
        assertThat(state().waiting()).isEqualTo(16);
        assertThat(pools.requests.stream().map(each -> each.holderId()).distinct())
                .hasSize(16);

        all.release();
        for (int i = 0; i < 20; i++) {
            advance(1);
            // In the order of their arrival.
            now(waiting.get(i)).release();
        }
        assertThat(state()).isEqualTo(StoreState.free(0));
        assertThat(Inside.engine(client).size()).isZero();
    }

    /** On a store that answers at once, each of them makes room for the next while it is let in. */
    @Test
    @Tag("deep") // quick: who_leaves_behind_the_gate_has_sent_nothing
    void any_number_of_waiters_comes_through_the_gate() {
        Permits many = client.permits("export", 20_000);
        Lease all = take(many.weight(20_000));
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 10_000; i++) {
            waiting.add(ask(many));
        }
        all.release();
        advance(1);
        waiting.forEach(this::now);
        assertThat(state().used()).isEqualTo(10_000);
    }

    @Test
    void who_leaves_behind_the_gate_has_sent_nothing() {
        take(others.weight(5));
        List<CompletableFuture<Lease>> asking = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            asking.add(ask(exports));
        }
        CompletableFuture<Lease> unsent = ask(exports);
        CompletableFuture<Lease> next = ask(exports);
        unsent.cancel(false);
        advance(1);
        assertThat(pools.count("abandon")).isZero();
        assertThat(pools.count("acquire")).isEqualTo(16);

        asking.get(7).cancel(false);
        assertThat(pools.count("abandon")).isEqualTo(1);
        assertThat(pools.count("acquire")).isEqualTo(17);
        assertBusy(next);
        assertThat(state().waiting()).isEqualTo(16);
    }

    @Test
    void a_wait_that_ends_behind_the_gate_was_a_wait_for_others() {
        take(others.weight(5));
        for (int i = 0; i < 16; i++) {
            var unused = ask(exports);
        }
        CompletableFuture<Lease> bounded = ask(exports, DEFAULTS.waitAtMost(ofSeconds(10)));
        CompletableFuture<Optional<Lease>> maybe =
                exports.tryAcquireAsync(ofSeconds(10)).toCompletableFuture();
        advance(10_001);
        assertThat(bounded)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockTimeoutException.class)
                .withMessage("The permits of \"export\" (limit 5, weight 1) were held by others for 10 s");
        assertThat(maybe).isCompletedWithValue(Optional.empty());
    }

    @Test
    void a_wait_that_ends_behind_the_gate_of_a_failing_store_says_that() {
        take(others.weight(5));
        for (int i = 0; i < 16; i++) {
            var unused = ask(exports);
        }
        CompletableFuture<Lease> bounded = ask(exports, DEFAULTS.waitAtMost(ofSeconds(3)));
        pools.acquires = Fate.FAIL;
        advance(3_001);
        assertFailed(bounded, LockStoreException.class);
        pools.acquires = Fate.PASS;
    }

    @Test
    void a_wait_behind_the_gate_of_a_silent_store_does_not_end_as_busy() {
        pools.acquires = Fate.REQUEST_HELD;
        List<CompletableFuture<Lease>> asking = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            asking.add(ask(exports));
        }
        CompletableFuture<Lease> bounded = ask(exports, DEFAULTS.waitAtMost(ofSeconds(3)));
        CompletableFuture<Lease> brief = ask(exports, DEFAULTS.waitAtMost(ofMillis(10)));
        advance(99);
        assertBusy(brief);
        advance(3_000);
        assertFailed(brief, LockStoreException.class);
        assertFailed(bounded, LockStoreException.class);
        pools.acquires = Fate.PASS;
        asking.forEach(each -> each.cancel(false));
        pools.deliverRequests();
    }

    @Test
    void a_store_that_fails_for_too_long_fails_all_that_wait() {
        take(others.weight(5));
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            waiting.add(ask(exports));
        }
        pools.acquires = Fate.FAIL;
        advance(20_000);
        waiting.forEach(each -> assertFailed(each, LockStoreException.class));
        pools.acquires = Fate.PASS;
        assertThat(Inside.engine(client).size()).isZero();
    }

    @Test
    void a_store_that_fails_for_a_while_fails_nobody_who_waits() {
        Lease all = take(others.weight(5));
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            waiting.add(ask(exports));
        }
        advance(60_000);
        pools.acquires = Fate.FAIL;
        advance(3_000);
        pools.acquires = Fate.PASS;
        all.release();
        for (CompletableFuture<Lease> each : waiting) {
            advance(1_500);
            now(each).release();
        }
    }

    @Test
    void the_first_failure_of_one_that_waited_long_behind_the_gate_does_not_end_its_wait() {
        Lease all = take(others.weight(5));
        List<CompletableFuture<Lease>> asking = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            asking.add(ask(exports));
        }
        CompletableFuture<Lease> next = ask(exports);
        advance(60_000);
        pools.acquires = Fate.FAIL;
        asking.get(0).cancel(false);
        advance(1);
        assertBusy(next);
        pools.acquires = Fate.PASS;
        all.release();
        for (int i = 1; i < 16; i++) {
            advance(1_500);
            now(asking.get(i)).release();
        }
        advance(1_500);
        now(next);
    }

    @Test
    void one_attempt_does_not_wait_for_the_gate() {
        take(others.weight(5));
        for (int i = 0; i < 17; i++) {
            var unused = ask(exports);
        }
        assertThat(exports.tryAcquire()).isEmpty();
        assertThatThrownBy(() -> exports.acquire(Duration.ZERO))
                .isInstanceOf(LockTimeoutException.class)
                .hasMessage("The permits of \"export\" (limit 5, weight 1) are held by others");
        assertThatThrownBy(() -> exports.weight(2).acquire(Duration.ZERO))
                .hasMessage("The permits of \"export\" (limit 5, weight 2) are held by others");
    }

    // --- the store, the client ---

    @Test
    void a_closed_client_releases_its_permits_and_fails_its_waits() {
        List<Lease> held = takeAll(exports);
        held.get(0).onLost(() -> events.add("lost"));
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            waiting.add(ask(exports));
        }
        client.close();
        assertThat(events).containsExactly("lost");
        waiting.forEach(each -> assertFailed(each, LockClientClosedException.class));
        assertThat(held).noneMatch(Lease::isValid);
        assertThat(state()).isEqualTo(StoreState.free(0));
        assertThatThrownBy(exports::tryAcquire).isInstanceOf(LockClientClosedException.class);
        assertFailed(ask(exports), LockClientClosedException.class);
        take(others.weight(5));
    }

    @Test
    void a_close_waits_for_the_release_of_permits() {
        take(exports);
        pools.releases = Fate.REPLY_HELD;
        CompletableFuture<Void> closed = Inside.engine(client).closeAsync().toCompletableFuture();
        assertThat(closed).isNotDone();
        pools.deliverReplies();
        assertThat(closed).isDone();
    }

    @Test
    void permits_under_which_work_goes_on_stay_taken_after_a_close() {
        Lease kept = now(ask(exports, DEFAULTS.leftAtClose()));
        client.close();
        assertThat(kept.isValid()).isFalse();
        assertThat(state().used()).isEqualTo(1);
        advance(LEASE.toMillis());
        assertThat(state()).isEqualTo(StoreState.free(0));
    }

    @Test
    void a_store_without_permits_says_that_at_the_first_call() {
        LockStore plain = server.connect(new StoreContext("plain", time));
        LockClient locks = LockClient.builder()
                .store(new ForwardingStore(plain) {
                    @Override
                    public String describe() {
                        return "redlock://a,b,c";
                    }
                })
                .timeSource(time)
                .callbackExecutor(Runnable::run)
                .build();
        Permits none = locks.permits("export", 5);
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(none::tryAcquire)
                    .isInstanceOfSatisfying(
                            LockStoreException.class,
                            e -> assertThat(e.isFatal()).isTrue())
                    .hasMessageContaining("redlock://a,b,c has no permits and no read-write locks (expected: ");
            assertFailed(ask(none), LockStoreException.class);
            assertThatThrownBy(() -> locks.tryAcquireRead("export")).isInstanceOf(LockStoreException.class);
            assertThatThrownBy(
                            () -> locks.getReadWriteLock("export").writeLock().lock())
                    .isInstanceOf(LockStoreException.class);
        }
        assertThat(locks.tryAcquire("export")).isPresent();
        locks.close();
    }

    @Test
    void a_store_that_is_opened_late_has_permits_then() throws Exception {
        AtomicBoolean up = new AtomicBoolean();
        LockClient late = LockClient.builder()
                .store(context -> {
                    if (!up.get()) {
                        throw new StoreException(StoreException.Outcome.NOT_EXECUTED, "away", null);
                    }
                    return server.connect(context);
                })
                .timeSource(time)
                .callbackExecutor(Runnable::run)
                .lazy()
                .build();
        Permits permits = late.permits("export", 5);
        assertThatThrownBy(permits::tryAcquire)
                .isInstanceOfSatisfying(
                        LockStoreException.class, e -> assertThat(e.isFatal()).isFalse());
        up.set(true);
        advance(1_000);
        CompletableFuture<Lease> waiting = ask(permits);
        // The store is opened by a thread of its own.
        for (int i = 0; i < 6_000 && !late.describeStore().equals("memory"); i++) {
            Thread.sleep(10);
        }
        advance(2_000);
        now(waiting).release();
        late.close();
    }

    @Test
    void bad_input_is_refused_before_anything_is_sent() {
        assertThatThrownBy(() -> client.permits("export", 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("limit of the permits \"export\": 0 (expected: from 1 to 1048576)");
        assertThatThrownBy(() -> client.permits("export", 1_048_577))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1048577");
        assertThatThrownBy(() -> client.permits(" ", 1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> exports.weight(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> exports.weight(6))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("weight: 6 of the permits \"export\" (expected: from 1 to their limit, 5)");
        assertThatThrownBy(() -> exports.acquireAsync(ofSeconds(-1))).isInstanceOf(IllegalArgumentException.class);
        assertThat(pools.commands).isEmpty();
        Permits most = client.permits("export", 1_048_576).weight(1_048_576);
        assertThat(most.limit()).isEqualTo(most.weight());
        assertThat(exports.weight(2).weight()).isEqualTo(2);
        assertThat(exports.weight()).isEqualTo(1);
        assertThat(exports.name()).isEqualTo("export");
        assertThat(exports).hasToString("Permits[permits of \"export\" (limit 5, weight 1)]");
    }

    @Test
    void a_listener_sees_the_kind_before_the_name() {
        LockClient heard = heardClient();
        take(heard.permits("export", 5)).release();
        now(acquire(heard, "export")).release();
        assertThat(events)
                .containsExactly(
                        "acquired permits:export", "released permits:export", "acquired export", "released export");
    }

    @Test
    void a_task_runs_under_a_permit() throws Exception {
        assertThat(exports.<Integer>call(lease -> state().used())).isEqualTo(1);
        exports.weight(2).run(lease -> events.add("used " + state().used()));
        assertThat(exports.tryRun(lease -> events.add("tried"))).isTrue();
        take(others.weight(5));
        assertThat(exports.tryRun(lease -> events.add("never"))).isFalse();
        assertThat(events).containsExactly("used 2", "tried");
        assertThat(state().used()).isEqualTo(5);
    }

    @Test
    void an_asynchronous_task_keeps_its_permit_until_its_stage_ends() {
        CompletableFuture<String> work = new CompletableFuture<>();
        CompletableFuture<String> outcome =
                exports.<String>callAsync(lease -> work).toCompletableFuture();
        assertThat(state().used()).isEqualTo(1);
        work.complete("done");
        assertThat(outcome).isCompletedWithValue("done");
        assertThat(state()).isEqualTo(StoreState.free(0));
    }

    private static void assertFailed(CompletableFuture<?> stage, Class<? extends Throwable> why) {
        assertThat(stage)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(why);
    }
}
