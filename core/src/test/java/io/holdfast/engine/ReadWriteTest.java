package io.holdfast.engine;

import static java.time.Duration.ofSeconds;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockClientClosedException;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.LockTimeoutException;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Leases of readers and writers of several clients, in virtual time. */
class ReadWriteTest extends EngineFixture {

    private final LockClient other = client("other");
    private final ProbeStore pools = requireNonNull(store.pools);

    private static CompletableFuture<Lease> read(LockClient by) {
        return by.acquireReadAsync("catalog").toCompletableFuture();
    }

    private static CompletableFuture<Lease> write(LockClient by) {
        return by.acquireWriteAsync("catalog").toCompletableFuture();
    }

    /** As the store knows it. */
    private StoreState state() {
        return pools.server.inspect("rw:catalog").toCompletableFuture().join();
    }

    private static void assertFailed(CompletableFuture<?> stage, Class<? extends Throwable> why) {
        assertThat(stage)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(why);
    }

    // --- who excludes whom ---

    @Test
    void readers_of_all_clients_read_at_once_and_a_writer_is_alone() {
        List<Lease> readers = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            readers.add(now(read(i % 2 == 0 ? client : other)));
        }
        assertThat(client.tryAcquireWrite("catalog")).isEmpty();
        assertThat(other.tryAcquireWrite("catalog")).isEmpty();
        CompletableFuture<Lease> writer = write(other);
        readers.remove(0).release();
        advance(10 * LEASE.toMillis());
        assertBusy(writer);
        readers.forEach(Lease::ensureValid);

        readers.forEach(Lease::release);
        advance(1);
        Lease alone = now(writer);
        assertThat(client.tryAcquireRead("catalog")).isEmpty();
        assertThat(other.tryAcquireRead("catalog")).isEmpty();
        assertThat(client.tryAcquireWrite("catalog")).isEmpty();
        alone.release();
        assertThat(client.tryAcquireRead("catalog")).isPresent();
    }

    @Test
    void a_writer_that_waits_stops_new_readers_everywhere_and_those_before_it_go_on() {
        Lease first = now(read(client));
        CompletableFuture<Lease> writer = write(other);
        advance(1);
        CompletableFuture<Lease> here = read(client);
        CompletableFuture<Lease> there = read(other);
        assertThat(client.tryAcquireRead("catalog")).isEmpty();
        assertThat(other.tryAcquireRead("catalog")).isEmpty();
        advance(5_000);
        assertBusy(writer);
        assertBusy(here);
        assertBusy(there);
        first.ensureValid();

        first.release();
        advance(1);
        Lease alone = now(writer);
        assertBusy(here);
        alone.release();
        advance(1);
        now(here);
        now(there);
        assertThat(state().used()).isEqualTo(2);
    }

    @Test
    void a_writer_that_gives_up_lets_the_readers_behind_it_in() {
        now(read(client));
        CompletableFuture<Lease> writer = write(other);
        advance(1);
        CompletableFuture<Lease> behind = read(client);
        assertBusy(behind);
        writer.cancel(false);
        advance(1);
        now(behind);

        CompletableFuture<Optional<Lease>> bounded =
                other.tryAcquireWriteAsync("catalog", ofSeconds(1)).toCompletableFuture();
        CompletableFuture<Lease> next = read(client);
        advance(1_001);
        assertThat(bounded).isCompletedWithValue(Optional.empty());
        now(next);
        assertThat(state().waiting()).isZero();
    }

    @Test
    void the_readers_of_a_client_that_has_died_do_not_stop_a_writer_for_long() {
        Lease dead = now(read(client));
        CompletableFuture<Lease> writer = write(other);
        pools.renews = Fate.REQUEST_FAILS;
        pools.abandons = Fate.REQUEST_FAILS;
        advance(LEASE.toMillis() + 1_500);
        assertThat(dead.isValid()).isFalse();
        now(writer);
        pools.abandons = Fate.PASS;
        pools.deliverRequests();
    }

    @Test
    void the_readers_behind_a_writer_that_has_died_read_after_its_lease() {
        Lease dead = now(write(client));
        CompletableFuture<Lease> reader = read(other);
        dead.onLost(() -> events.add("lost"));
        pools.renews = Fate.REQUEST_FAILS;
        pools.abandons = Fate.REQUEST_FAILS;
        advance(LEASE.toMillis());
        assertThat(events).containsExactly("lost");
        assertThatThrownBy(dead::release).isInstanceOf(LeaseLostException.class);
        advance(1_500);
        now(reader);
        pools.abandons = Fate.PASS;
        pools.deliverRequests();
    }

    @Test
    void the_kinds_of_one_name_are_different_things() {
        Lease lock = now(acquire(client, "catalog"));
        Lease permit = now(client.permits("catalog", 1).acquireAsync());
        Lease writer = now(write(client));
        Lease named = now(acquire(other, "rw:catalog"));
        assertThat(List.of(lock, permit, writer, named)).allMatch(Lease::isValid);
        assertThat(other.permits("catalog", 1).tryAcquire()).isEmpty();
        assertThat(other.tryAcquireRead("catalog")).isEmpty();
        assertThat(writer.name()).isEqualTo("catalog");
        assertThat(client.inspect("catalog").holder()).contains(lock.holderId());
    }

    // --- leases ---

    @Test
    void a_pair_costs_two_commands() {
        now(read(client)).release();
        now(write(client)).release();
        assertThat(pools.commands).containsExactly("acquire", "release", "acquire", "release");
        assertThat(store.commands).isEmpty();
        assertThat(pools.requests)
                .extracting(AcquireRequest::name, AcquireRequest::weight, AcquireRequest::capacity)
                .containsExactly(
                        tuple("rw:catalog", 1, AcquireRequest.CAPACITY_MAX),
                        tuple("rw:catalog", AcquireRequest.CAPACITY_MAX, AcquireRequest.CAPACITY_MAX));
        assertThat(state()).isEqualTo(StoreState.free(0));
        assertThat(Inside.engine(client).size()).isZero();
    }

    @Test
    void the_token_of_a_writer_is_larger_than_all_before_and_only_a_writer_is_exclusive() {
        Lease first = now(read(client));
        Lease second = now(read(other));
        assertThat(first.isExclusive()).isFalse();
        assertThat(first.fencingToken()).isNotEqualTo(second.fencingToken());
        CompletableFuture<Lease> waiting = write(client);
        first.release();
        second.release();
        advance(1);
        Lease writer = now(waiting);
        assertThat(writer.isExclusive()).isTrue();
        assertThat(writer.fencingToken()).isGreaterThan(Math.max(first.fencingToken(), second.fencingToken()));
        writer.release();
        Lease later = now(read(client));
        assertThat(later.fencingToken()).isGreaterThan(writer.fencingToken());
    }

    @Test
    void leases_are_renewed_and_a_length_of_their_own_ends_them() {
        Lease renewed = now(read(client));
        Lease fixed = now(client.acquireReadAsync("catalog", DEFAULTS.leaseFor(ofSeconds(1))));
        Lease limited = now(client.acquireReadAsync("catalog", DEFAULTS.holdAtMost(ofSeconds(5))));
        advance(1_001);
        assertThat(fixed.isValid()).isFalse();
        advance(4_000);
        assertThat(limited.isValid()).isFalse();
        advance(20 * LEASE.toMillis());
        renewed.ensureValid();
        assertThat(state().used()).isEqualTo(1);
    }

    @Test
    void a_hold_that_the_store_does_not_know_any_more_is_lost_and_the_others_are_not() {
        Lease gone = now(read(client));
        Lease kept = now(read(other));
        gone.onLost(() -> events.add("lost"));
        pools.server.forceRelease("rw:catalog", gone.holderId());
        advance(1);
        assertThat(events).containsExactly("lost");
        kept.ensureValid();
    }

    @Test
    void a_bounded_wait_ends_in_time_and_says_for_what() {
        now(write(other));
        CompletableFuture<Lease> read =
                client.acquireReadAsync("catalog", ofSeconds(2)).toCompletableFuture();
        CompletableFuture<Lease> write =
                client.acquireWriteAsync("catalog", ofSeconds(2)).toCompletableFuture();
        advance(2_001);
        assertThat(read)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockTimeoutException.class)
                .withMessageStartingWith("The read lock \"catalog\" was held by others for 2 s");
        assertThat(write)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockTimeoutException.class)
                .withMessageStartingWith("The write lock \"catalog\" was held by others for 2 s");
        assertThat(state().waiting()).isZero();
    }

    @Test
    void a_failing_store_is_not_a_busy_lock() {
        pools.failure = new StoreException(StoreException.Outcome.FATAL, "store: no", null);
        pools.acquires = Fate.FAIL;
        assertFailed(read(client), LockStoreException.class);
        assertThatThrownBy(() -> client.tryAcquireWrite("catalog")).isInstanceOf(LockStoreException.class);
    }

    @Test
    void a_close_ends_waits_and_leases() {
        Lease held = now(read(client));
        held.onLost(() -> events.add("lost"));
        now(read(other));
        CompletableFuture<Lease> waiting = write(client);
        client.close();
        assertFailed(waiting, LockClientClosedException.class);
        assertFailed(read(client), LockClientClosedException.class);
        assertThatThrownBy(() -> client.tryAcquireRead("catalog")).isInstanceOf(LockClientClosedException.class);
        assertThat(events).containsExactly("lost");
        assertThat(state().used()).isEqualTo(1);
        assertThat(state().waiting()).isZero();
    }

    @Test
    void bad_input_is_refused_before_anything_is_sent() {
        assertThatThrownBy(() -> client.getReadWriteLock(" ")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.acquireReadAsync("")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.acquireWrite("x", ofSeconds(-1))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.tryAcquireRead("x", (LockOptions) null))
                .isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> client.getReadWriteLock("x").readLock().newCondition())
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> client.getReadWriteLock("x").writeLock().newCondition())
                .isInstanceOf(UnsupportedOperationException.class);
        assertThat(pools.commands).isEmpty();
    }

    @Test
    void observers_see_the_kind_before_the_name() {
        LockClient heard = heardClient();
        now(read(heard)).release();
        now(write(heard)).release();
        assertThat(events)
                .containsExactly(
                        "acquired read:catalog",
                        "released read:catalog",
                        "acquired write:catalog",
                        "released write:catalog");
    }

    @Test
    void many_waiters_of_a_client_are_served_in_their_order() {
        Lease all = now(write(other));
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            waiting.add(i % 10 == 5 ? write(client) : read(client));
        }
        all.release();
        for (int i = 0; i < waiting.size(); i++) {
            advance(1);
            Lease lease = now(waiting.get(i));
            if (lease.isExclusive()) {
                assertThat(waiting.stream().filter(CompletableFuture::isDone)).hasSize(i + 1);
                assertThat(state().held()).hasSize(1);
            }
            lease.release();
        }
        assertThat(state()).isEqualTo(StoreState.free(0));
        assertThat(Inside.engine(client).size()).isZero();
    }
}
