package io.holdfast.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply.Gone;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.StoreState;
import io.holdfast.testkit.OverlapDetector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The contract of every {@link io.holdfast.spi.LockStore}, as tests. A store's own test extends this class and
 * implements {@code open}, and {@code elapse} if time is virtual. A store that by design does less overrides a
 * capability method, which skips the tests of that capability. Needs JUnit and AssertJ.
 *
 * <pre>{@code
 * class TableLockStoreTest extends LockStoreContract {
 *     @Override
 *     protected LockStore open(StoreContext context) {
 *         return new TableLockStore(database, context);
 *     }
 * }
 * }</pre>
 *
 * <p>Each test uses names of its own, so one server serves all tests. The tests wait only by {@code elapse} and expect
 * no event at an exact time, so they pass on a slow machine, too.
 *
 * <p>This class has the tests of unusual names and of threads; its superclasses have the others, by subject.
 */
public abstract class LockStoreContract extends LeadershipContract {

    private static final int THREADS = 8;

    /** Many times longer than the slowest store needs for a test with threads. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Creates a contract, for subclasses. */
    protected LockStoreContract() {}

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a{b}c",
                "a}b",
                "a{}b",
                "{}",
                "{",
                "}",
                "{a}",
                "a{",
                "}{",
                "two words",
                "Größe",
                "🔒",
                "..",
                ".",
                "/",
                "/a//b/",
                "a\\b",
                "a:b:1",
                "a*b?[c]",
                "%2F",
                "\"quoted\"",
                "tab\there",
                "line\nbreak",
                " "
            })
    void everyNameWillDo(String odd) {
        everyCommandWorksFor(odd);
    }

    @Test
    void aLongNameWillDo() {
        everyCommandWorksFor("n".repeat(1_024));
        everyCommandWorksFor("ß".repeat(512));
    }

    @Test
    void namesThatLookAlikeAreDifferent() {
        List<String> names = List.of("x{" + name + "}", "{" + name + "}", name, name + " ", name + "/", "/" + name);
        for (String each : names) {
            hold(a, each);
        }
        for (String each : names) {
            assertThat(a.forceRelease(each)).isTrue();
            assertFree(a, each);
        }
    }

    private void everyCommandWorksFor(String odd) {
        a.forceRelease(odd);
        String holder = hold(a, odd);
        assertThat(a.renew(odd, holder, LONG, 0)).isInstanceOf(Renewed.class);
        assertThat(a.set(odd, holder, LONG, 1)).isInstanceOf(Renewed.class);
        assertThat(busy(b.take(odd, b.newId(), LONG)).holder()).isEqualTo(holder);
        assertHolder(b, odd, holder);

        if (hasQueue()) {
            String next = queue(b, odd);
            assertThat(a.release(odd, holder)).isTrue();
            awaitGranted(b, odd, next);
            assertThat(b.abandon(odd, next)).isTrue();
        } else {
            assertThat(a.abandon(odd, holder)).isTrue();
        }
        assertThat(a.inspect(odd)).isEqualTo(StoreState.free(0));
    }

    @Test
    void anAcquireSentTwiceAtOnceIsGrantedOnce() throws Exception {
        AcquireRequest request = AcquireRequest.once(name, a.newId(), LONG.toMillis());
        List<AcquireReply> replies = twice(() -> StoreClient.get(a.store().acquire(request)));
        assertThat(granted(replies.get(0)).base())
                .isEqualTo(granted(replies.get(1)).base());
        assertThat(a.release(name, request.holderId())).isTrue();
        assertFree(a, name);
    }

    @Test
    void ofTwoAcquiresAtOnceOneIsGranted() throws Exception {
        for (int i = 0; i < 20; i++) {
            List<AcquireReply> replies = twice(() -> a.take(name, a.newId(), LONG));
            assertThat(replies).hasAtLeastOneElementOfType(Granted.class).hasAtLeastOneElementOfType(Busy.class);
            a.forceRelease(name);
        }
    }

    @Test
    void aReleaseSentTwiceAtOnceEndsTheHoldOnce() throws Exception {
        String holder = hold(a, name);
        assertThat(twice(() -> a.release(name, holder))).containsExactlyInAnyOrder(true, false);
    }

    @QueueTest
    void aPlaceAskedForTwiceAtOnceIsOne() throws Exception {
        hold(a, name);
        String waiting = b.newId();
        List<AcquireReply> replies = twice(() -> b.queue(name, waiting, LONG, MEDIUM));
        assertThat(busy(replies.get(0)).ahead()).isZero();
        assertThat(busy(replies.get(1)).ahead()).isZero();
        assertThat(a.inspect(name).waiting()).isEqualTo(1);
    }

    @QueueTest
    void aReleaseWithQueueingSentTwiceAtOnceQueuesOnce() throws Exception {
        String holder = hold(a, name);
        queue(b, name);
        AcquireRequest again = StoreClient.queueing(name, a.newId(), LONG, MEDIUM);
        List<ReleaseReply> replies =
                twice(() -> StoreClient.get(a.store().release(ReleaseRequest.requeueing(name, holder, again))));
        assertThat(replies).filteredOn(ReleaseReply::wasHeld).hasSize(1);
        assertThat(replies).contains(ReleaseReply.notHeld());
        assertThat(a.inspect(name).waiting()).isEqualTo(1);
    }

    @Test
    void aRenewalAndAReleaseAtOnceLeaveTheNameFree() throws Exception {
        for (int i = 0; i < 20; i++) {
            String holder = hold(a, name);
            List<Object> replies = both(() -> a.renew(name, holder, LONG, 0), () -> (Object) a.release(name, holder));
            assertThat(replies.get(0)).isInstanceOfAny(Renewed.class, Gone.class);
            assertThat(replies.get(1)).isEqualTo(true);
            assertFree(a, name);
        }
    }

    @Test
    void threadsThatTryNeverOverlap() throws Exception {
        OverlapDetector detector = new OverlapDetector(name);
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        List<StoreClient> clients = List.of(a, b, c);
        inThreads(thread -> {
            StoreClient client = clients.get(thread % clients.size());
            int rounds = 0;
            while (rounds < 20) {
                String holder = client.newId();
                if (client.take(name, holder, LONG) instanceof Granted granted) {
                    detector.enter(granted.base());
                    breathe(deadline);
                    detector.leave();
                    assertThat(client.release(name, holder)).isTrue();
                    rounds++;
                } else {
                    breathe(deadline);
                }
            }
        });
        detector.assertClean();
        assertThat(detector.entries()).isEqualTo(THREADS * 20);
        assertThat(clients.get(0).inspect(name)).isEqualTo(StoreState.free(0));
    }

    @QueueTest
    void threadsThatQueueNeverOverlap() throws Exception {
        OverlapDetector detector = new OverlapDetector(name);
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        List<StoreClient> clients = List.of(a, b, c);
        inThreads(thread -> {
            StoreClient client = clients.get(thread % clients.size());
            String holder = client.newId();
            AcquireReply reply = client.queue(name, holder, LONG, MEDIUM);
            int rounds = 0;
            while (true) {
                if (!(reply instanceof Granted granted)) {
                    breathe(deadline);
                    reply = client.queue(name, holder, LONG, MEDIUM);
                    continue;
                }
                detector.enter(granted.base());
                breathe(deadline);
                detector.leave();
                if (++rounds == 10) {
                    assertThat(client.release(name, holder)).isTrue();
                    return;
                }
                // The same as the engine at the end of a tenure.
                String next = client.newId();
                ReleaseReply released =
                        client.releaseAndQueue(name, holder, StoreClient.queueing(name, next, LONG, MEDIUM));
                assertThat(released.wasHeld()).isTrue();
                holder = next;
                reply = Objects.requireNonNull(released.requeued());
            }
        });
        detector.assertClean();
        assertThat(detector.entries()).isEqualTo(THREADS * 10);
        assertThat(clients.get(0).inspect(name)).isEqualTo(StoreState.free(0));
    }

    /**
     * Lets other threads run, even into the critical section if a defect allows that. Fails after the deadline, because
     * with a store that loses a grant the other threads would try forever.
     */
    private static void breathe(long deadline) {
        LockSupport.parkNanos(10_000);
        if (System.nanoTime() - deadline > 0 || Thread.currentThread().isInterrupted()) {
            throw new AssertionError("no grant came within " + PATIENCE.toSeconds() + " s");
        }
    }

    private interface ThreadBody {
        void run(int thread) throws Exception;
    }

    private static void inThreads(ThreadBody body) throws Exception {
        List<Callable<Object>> tasks = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int thread = i;
            tasks.add(() -> {
                body.run(thread);
                return true;
            });
        }
        together(tasks);
    }

    private static <T> List<T> twice(Callable<T> task) throws Exception {
        return both(task, task);
    }

    private static <T> List<T> both(Callable<? extends T> one, Callable<? extends T> other) throws Exception {
        CyclicBarrier start = new CyclicBarrier(2);
        List<Callable<T>> tasks = new ArrayList<>();
        for (Callable<? extends T> task : List.<Callable<? extends T>>of(one, other)) {
            tasks.add(() -> {
                start.await(10, TimeUnit.SECONDS);
                return task.call();
            });
        }
        return together(tasks);
    }

    /** Runs each task on a thread of its own, and returns the results in the order of the tasks. */
    static <T> List<T> together(List<Callable<T>> tasks) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(tasks.size());
        try {
            List<T> results = new ArrayList<>();
            for (Future<T> future : threads.invokeAll(tasks)) {
                results.add(future.get());
            }
            return results;
        } finally {
            threads.shutdownNow();
        }
    }
}
