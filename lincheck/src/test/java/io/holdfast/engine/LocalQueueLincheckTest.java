package io.holdfast.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * The local queue under Lincheck's stress mode: some sequential order of the operations must explain the additions that
 * threads make under one lock at once, and no thread may hang. The store grants every request at once, so all waiting
 * is in the queue.
 *
 * <p>In a module of its own, because Lincheck's agent stays in the JVM, and Kotlin on the class path.
 */
class LocalQueueLincheckTest {

    /** The number of generated scenarios; more, with more threads, with {@code -Dlincheck.scenarios=100}. */
    private static final int SCENARIOS = Integer.getInteger("lincheck.scenarios", 3);

    /** The number of runs of each scenario. */
    private static final int PLAYS = Integer.getInteger("lincheck.plays", 100);

    private static final String DEEP = "lincheck.scenarios";

    private static StressOptions options(int threads) {
        return new StressOptions()
                .threads(threads)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(0)
                .iterations(SCENARIOS)
                .invocationsPerIteration(PLAYS);
    }

    @Test
    void a_lock_that_running_threads_may_take() {
        options(2).check(Barging.class);
    }

    @Test
    @Tag("deep") // quick: the test above, and LocalQueueTest of core
    void a_lock_that_is_handed_over() {
        options(2).check(HandedOver.class);
    }

    @Test
    @EnabledIfSystemProperty(named = DEEP, matches = ".*")
    void three_threads() {
        options(3).check(Barging.class);
        options(3).check(HandedOver.class);
    }

    @Tag("deep")
    @Test
    void finds_a_waiter_that_does_not_look_again_when_it_is_woken() {
        // The search ends when it has found a failure; a slow machine may need more scenarios.
        StressOptions search = options(2).iterations(10 * SCENARIOS).minimizeFailedScenario(false);
        assertThatThrownBy(() -> search.check(DoesNotLookAgain.class))
                .isInstanceOf(LincheckAssertionError.class)
                .hasMessageContaining("hung");
    }

    @Test
    @EnabledIfSystemProperty(named = DEEP, matches = ".*")
    void finds_a_thread_that_does_not_wait() {
        assertThatThrownBy(() -> options(2).minimizeFailedScenario(false).check(DoesNotWait.class))
                .isInstanceOf(LincheckAssertionError.class)
                .hasMessageContaining("Invalid execution results");
    }

    /** The operations on one lock. Lincheck makes an object for each run and calls its methods on several threads. */
    public abstract static class Users {

        private final LockClient client;
        private int counter;

        Users(boolean barging) {
            client = Inside.settings(LockClient.builder(), settings -> {
                        settings.clientId = "c";
                        settings.bargeNanos = barging ? 1 : 0;
                        settings.turnNanos = 0;
                    })
                    .store(new Willing())
                    .timeSource(new StillTime(0))
                    .callbackExecutor(Runnable::run)
                    .build();
        }

        Waiter submit() {
            return Inside.engine(client).submit("a", LockOptions.defaults(), Waiter.Mode.PATIENT);
        }

        int addOne() {
            return ++counter;
        }

        /** Waits for the lock. */
        @Operation
        public int add() {
            Lease lease = submit().awaitUninterruptibly().orElseThrow();
            int sum = addOne();
            lease.release();
            return sum;
        }

        /** Asks for the lock and withdraws at once if possible, as an interrupt does. */
        @Operation
        public void interrupted() {
            Waiter waiter = submit();
            if (!waiter.withdraw()) {
                waiter.awaitUninterruptibly().orElseThrow().release();
            }
        }

        /** Asks and withdraws by a stage. */
        @Operation
        public void cancelled() {
            CompletableFuture<Lease> lease = client.acquireAsync("a").toCompletableFuture();
            if (!lease.cancel(false)) {
                lease.join().release();
            }
        }

        /** Takes the lock if it is free now. */
        @Operation
        public void tried() {
            client.tryAcquire("a").ifPresent(Lease::release);
        }
    }

    /** A released lock is left open for a running thread. */
    public static class Barging extends Users {
        public Barging() {
            super(true);
        }
    }

    /** A released lock goes to the first waiter. */
    public static class HandedOver extends Users {
        public HandedOver() {
            super(false);
        }
    }

    /** A seeded bug: a thread that was woken because the lock is open parks again without an attempt. */
    public static class DoesNotLookAgain extends Users {
        public DoesNotLookAgain() {
            super(true);
        }

        @Override
        @Operation
        public int add() {
            Waiter waiter = submit();
            while (!waiter.isDone()) {
                LockSupport.park(this);
            }
            Lease lease = waiter.leaseOrThrow();
            int sum = addOne();
            lease.release();
            return sum;
        }
    }

    /** A seeded bug: a thread enters the critical section without the lock. */
    public static class DoesNotWait extends Users {
        public DoesNotWait() {
            super(true);
        }

        @Override
        @Operation
        public int add() {
            Waiter waiter = submit();
            int sum = addOne();
            waiter.awaitUninterruptibly().orElseThrow().release();
            return sum;
        }
    }

    /** Grants every request of its only client. */
    private static final class Willing implements LockStore {

        private final AtomicLong base = new AtomicLong();

        @Override
        public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
            return CompletableFuture.completedFuture(new AcquireReply.Granted(base.incrementAndGet(), 0));
        }

        @Override
        public CompletionStage<RenewReply> renew(RenewRequest request) {
            return CompletableFuture.completedFuture(new RenewReply.Renewed(0));
        }

        @Override
        public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
            return CompletableFuture.completedFuture(ReleaseReply.released());
        }

        @Override
        public CompletionStage<Boolean> abandon(String name, String holderId) {
            return CompletableFuture.completedFuture(true);
        }

        @Override
        public CompletionStage<StoreState> inspect(String name) {
            return CompletableFuture.completedFuture(StoreState.free(0));
        }

        @Override
        public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
            return CompletableFuture.completedFuture(new ForceReply.Free());
        }

        @Override
        public void listen(StoreListener listener) {
            requireNonNull(listener);
        }

        @Override
        public String describe() {
            return "willing";
        }

        @Override
        public void close() {}
    }
}
