package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.engine.PoolEngine.Pool;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.StoreContext;
import java.util.concurrent.CompletableFuture;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The readers of one client that share a hold, under Lincheck's stress mode. While a thread reads, the store has a
 * reader, and no thread hangs. Time stands still, so no lease ends by it.
 */
@Tag("deep")
class ReadGroupLincheckTest {

    private static final int SCENARIOS = Integer.getInteger("lincheck.scenarios", 3);
    private static final int PLAYS = Integer.getInteger("lincheck.plays", 100);

    private static StressOptions options() {
        return new StressOptions()
                .threads(2)
                .actorsPerThread(3)
                .actorsBefore(0)
                .actorsAfter(0)
                .iterations(SCENARIOS)
                .invocationsPerIteration(PLAYS)
                .minimizeFailedScenario(false);
    }

    @Test
    void readers_that_share_a_hold() {
        options().check(Right.class);
    }

    @Test
    void finds_a_hold_that_is_released_while_somebody_reads() {
        // The search ends when it has found a failure.
        assertThatThrownBy(() -> options().iterations(50 * SCENARIOS).check(ReleasedTooSoon.class))
                .isInstanceOf(LincheckAssertionError.class);
    }

    /** The operations on one read-write lock. Lincheck makes an object for each run. */
    public abstract static class Readers {

        private final LockStore store = new MemoryLockStore.Server(new StillTime(1_000_000))
                .connect(new StoreContext("c", new StillTime(1_000_000)));
        private final LockClient client;

        Readers(PoolEngine.Maker engines) {
            client = Inside.settings(LockClient.builder(), settings -> {
                        settings.clientId = "c";
                        settings.pools = engines;
                    })
                    .store(store)
                    .timeSource(new StillTime(1_000_000))
                    .callbackExecutor(Runnable::run)
                    .build();
        }

        private boolean isRead() {
            LockStore pools = store.pools().orElseThrow();
            return pools.inspect("rw:a").toCompletableFuture().join().used() > 0;
        }

        @SuppressWarnings("ThreadPriorityCheck") // the longer a read lasts, the more threads meet in it
        private boolean work(Lease lease) {
            boolean atFirst = isRead();
            Thread.yield();
            boolean seen = atFirst && isRead();
            lease.release();
            return seen;
        }

        /** Waits for the lock. */
        @Operation
        public boolean read() {
            return work(submit().awaitUninterruptibly().orElseThrow());
        }

        private Waiter submit() {
            return Inside.engine(client)
                    .pools()
                    .submit(PoolRequest.reading("a"), LockOptions.defaults(), Waiter.Mode.PATIENT, false);
        }

        /** Asks and withdraws at once if possible, as an interrupt does. */
        @Operation
        public boolean interrupted() {
            Waiter waiter = submit();
            return waiter.withdraw() || work(waiter.awaitUninterruptibly().orElseThrow());
        }

        /** Asks and withdraws by a stage. */
        @Operation
        public boolean cancelled() {
            CompletableFuture<Lease> lease = client.acquireReadAsync("a").toCompletableFuture();
            return lease.cancel(false) || work(lease.join());
        }

        /** Makes one attempt: nobody writes, so it is granted. */
        @Operation
        public boolean tried() {
            return client.tryAcquireRead("a").map(this::work).orElse(false);
        }
    }

    /** As it is. */
    public static class Right extends Readers {
        public Right() {
            super(PoolEngine::new);
        }
    }

    /** A seeded bug: the first reader that leaves releases the hold. */
    public static class ReleasedTooSoon extends Readers {
        public ReleasedTooSoon() {
            super((locks, opening) -> new PoolEngine(locks, opening) {
                @Override
                ReadGroup newGroup(Pool pool, PoolRequest wanted) {
                    return new Leaky(this, pool, wanted);
                }
            });
        }
    }

    @SuppressWarnings("serial") // nobody writes it anywhere
    private static final class Leaky extends ReadGroup {

        Leaky(PoolEngine pools, Pool pool, PoolRequest wanted) {
            super(pools, pool, wanted);
        }

        @Override
        public void onReleased(ActiveLease lease) {
            handle(state -> {
                ActiveLease keeper = state.tenure.lease();
                if (keeper != null) {
                    var unused = engine.store.release(ReleaseRequest.of(storedName(), keeper.holderId()));
                }
            });
            super.onReleased(lease);
        }
    }
}
