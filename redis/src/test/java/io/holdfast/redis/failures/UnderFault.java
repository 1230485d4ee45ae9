package io.holdfast.redis.failures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockException;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.testkit.HistoryRecorder;
import io.holdfast.testkit.OverlapDetector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Uses locks during a fault: one client holds a lock for which a second one waits, and both contend for another lock
 * with two threads each. A scenario starts this, causes its fault, states what must have become of the held lease, and
 * closes this.
 *
 * <p>Closing checks what every scenario must keep: no overlap (where it is promised), tokens that grow, one outcome for
 * each attempt, no attempt that hangs, and no hold that stays behind. Then it prints the measurements.
 */
final class UnderFault implements AutoCloseable {

    /** The lease of a holder that survives the fault, even if the machine stands still for a second more. */
    static final Duration LEASE = Duration.ofSeconds(5);

    /** The lease of a holder that loses it or dies: the next client waits for its end. */
    static final Duration SHORT_LEASE = Duration.ofSeconds(2);

    /** The length of a fault that has no effect but a wait. */
    static final long SHORT_HARM_MILLIS = 667;

    /** The longest wait for an answer: a late answer of a slow machine must not become an error. */
    private static final Duration TIMEOUT = Duration.ofSeconds(3);

    /** The time for which a store may fail before its waiters fail; a late answer is no failure. */
    static final Duration STORE_TIMEOUT = Duration.ofSeconds(1);

    /** Longer than anything here takes on a slow machine. */
    static final Duration PATIENCE = Duration.ofSeconds(30);

    /** Both on one master in a cluster. */
    static final String HELD = "{f}held";

    static final String CONTENDED = "{f}contended";

    /** 2020-01-01. */
    private static final long EPOCH_MILLIS = 1_577_836_800_000L;

    private static final Pattern INVERSION = Pattern.compile("token (\\d+) on .* came after token");

    private final String scenario;
    private final Object where;
    private final Duration lease;
    private final OverlapDetector detector = new OverlapDetector(CONTENDED);
    private final HistoryRecorder recorder = new HistoryRecorder();
    private final long beganNanos = System.nanoTime();
    private final LockClient one;
    private final LockClient two;
    private final List<Worker> workers = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final Map<String, Long> measured = new LinkedHashMap<>();
    private final Lease held;
    private final CompletableFuture<Long> lostAt = new CompletableFuture<>();
    private final CompletableFuture<Lease> waiting;
    private boolean promised = true;
    private long forgottenMillis;

    UnderFault(String scenario, Object where, String uri) throws InterruptedException {
        this(scenario, where, uri, LEASE);
    }

    UnderFault(String scenario, Object where, String uri, Duration lease) throws InterruptedException {
        this(scenario, where, uri, uri, lease);
    }

    /** @param uri of the client that holds; the other one waits */
    UnderFault(String scenario, Object where, String uri, String uriOfTheOther, Duration lease)
            throws InterruptedException {
        this(scenario, where, uri, uriOfTheOther, TIMEOUT, lease);
    }

    /** @param timeout also how long a command may be out that a master got which has failed since */
    UnderFault(String scenario, Object where, String uri, String uriOfTheOther, Duration timeout, Duration lease)
            throws InterruptedException {
        this.scenario = scenario;
        this.where = where;
        this.lease = lease;
        one = client(uri, timeout, lease);
        two = client(uriOfTheOther, timeout, lease);
        held = one.acquire(HELD);
        held.onLost(() -> lostAt.complete(System.nanoTime()));
        waiting = two.acquireAsync(HELD, LockOptions.defaults().waitAtMost(PATIENCE))
                .toCompletableFuture();
        await().atMost(PATIENCE)
                .ignoreExceptions()
                .until(() -> one.inspect(HELD).waitingClients() == 1);
        for (LockClient client : List.of(one, one, two, two)) {
            Worker worker = new Worker(client, CONTENDED, detector, recorder);
            workers.add(worker);
            Thread thread = new Thread(worker, "worker " + workers.size());
            threads.add(thread);
            thread.start();
        }
        awaitAllServed();
    }

    static LockClient client(String uri, Duration lease) {
        return client(uri, TIMEOUT, lease);
    }

    /** Connects; again, if a loaded machine takes longer than a short timeout. */
    static LockClient client(String uri, Duration timeout, Duration lease) {
        int end = uri.indexOf('#') < 0 ? uri.length() : uri.indexOf('#');
        LockClient.Builder builder = LockClient.builder()
                .uri(uri.substring(0, end) + "?namePrefix=&timeout=" + timeout.toMillis() + "ms" + uri.substring(end))
                .leaseTime(lease)
                .storeTimeout(STORE_TIMEOUT);
        for (int attempt = 1; ; attempt++) {
            try {
                return builder.build();
            } catch (LockStoreException e) {
                if (attempt == 5) {
                    throw e;
                }
            }
        }
    }

    Lease held() {
        return held;
    }

    /** Another client, for a look. */
    LockClient second() {
        return two;
    }

    /**
     * The store has just forgotten what is held, so a lock can be granted twice: the old holder does not know until its
     * next renewal, and passes the lock on among its own threads until then. Tokens tell: those of holds that were made
     * before now are smaller than all that come.
     */
    void overlapIsPossible() {
        promised = false;
        forgottenMillis = System.currentTimeMillis();
    }

    void measured(String what, long nanos) {
        measured.put(what, nanos / 1_000_000);
    }

    /** Waits until every worker has been granted the lock once more. Returns when, in nanoseconds after a moment. */
    long awaitAllServed() {
        long[] before = workers.stream().mapToLong(w -> w.granted.get()).toArray();
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(2)).until(() -> {
            for (int i = 0; i < before.length; i++) {
                if (workers.get(i).granted.get() == before[i]) {
                    return false;
                }
            }
            return true;
        });
        return System.nanoTime();
    }

    /** The lease has survived: it is valid, and has been renewed just now, so after the harm. */
    void assertStillHeld() {
        await().atMost(PATIENCE)
                .until(() -> !held.isValid()
                        || held.remaining().compareTo(lease.multipliedBy(5).dividedBy(6)) > 0);
        boolean served = waiting.isDone() && !waiting.isCompletedExceptionally();
        assertThat(held.isValid()).as("the lease is still valid").isTrue();
        assertThat(served).as("the one behind it has the lock").isFalse();
    }

    /**
     * The lease has been lost, loudly. Whoever takes the lock next has a larger token and, where exclusion is promised,
     * takes it only after the end of the lost lease.
     *
     * @param since when the harm was done
     */
    void assertLost(long since) throws InterruptedException {
        try {
            measured("lost after", lostAt.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS) - since);
        } catch (ExecutionException | TimeoutException e) {
            throw new AssertionError(scenario + ": the lease was not lost", e);
        }
        assertThat(held.isValid()).isFalse();
    }

    /** The next one gets the lock that was held. Returns its lease. */
    Lease assertNext(long since) throws InterruptedException {
        Lease next = waitersLease();
        boolean both = next != null && next.isValid() && held.isValid();
        measured("next holder after", System.nanoTime() - since);
        if (promised) {
            assertThat(both).as("two valid leases").isFalse();
        }
        if (next == null) {
            next = two.acquire(HELD, LockOptions.defaults().waitAtMost(PATIENCE));
        }
        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
        return next;
    }

    /** Every error that workers were given is like this. */
    void assertErrorsName(String regex) {
        assertThat(errors()).allMatch(error -> error.matches("(?s).*(" + regex + ").*"));
    }

    List<String> errors() {
        List<String> all = new ArrayList<>();
        workers.forEach(worker -> all.addAll(worker.errors()));
        return all;
    }

    @Override
    public void close() {
        workers.forEach(worker -> worker.stopped = true);
        try {
            for (Thread thread : threads) {
                thread.join(PATIENCE.toMillis());
                assertThat(thread.isAlive())
                        .as("%s: %s hangs", scenario, thread.getName())
                        .isFalse();
            }
            check();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            one.close();
            two.close();
        }
        System.out.println(line());
    }

    private void check() {
        assertThat(workers).allSatisfy(worker -> assertThat(worker.oddities()).isEmpty());
        assertThat(sum(w -> w.granted.get()) + sum(w -> w.timedOut.get()) + sum(w -> w.failed.get()))
                .as("outcomes of all attempts")
                .isEqualTo(sum(w -> w.attempts.get()));
        assertThat(workers)
                .allSatisfy(worker -> assertThat(worker.longestMillis.get())
                        .as(
                                "ms an attempt took, with a limit of %s and a store that may fail for %s",
                                Worker.WAIT, STORE_TIMEOUT)
                        .isLessThan(
                                Worker.WAIT.plus(STORE_TIMEOUT).plusSeconds(5).toMillis()));
        if (promised) {
            detector.assertClean();
        } else {
            assertThat(detector.violations()).noneMatch(this::isOfANewHold);
        }
        if (!promised) {
            // Nobody here knows at which moment.
            for (long at = beganNanos; at - System.nanoTime() < 0; at += 20_000_000) {
                recorder.forgotAt(at);
            }
        }
        recorder.assertInOrder(lease);
        // A hold without a lease at any client is free when its time has run out.
        await().atMost(lease.plusSeconds(10))
                .ignoreExceptions()
                .until(() -> !two.inspect(CONTENDED).isLocked());
    }

    /** A token that came too late and is not that of a hold which the store has forgotten. */
    private boolean isOfANewHold(String violation) {
        Matcher matcher = INVERSION.matcher(violation);
        // A base is at least the server's clock, which is ours here, in 2^-18 s since 2020.
        return matcher.find()
                && (Long.parseLong(matcher.group(1)) >> 14) > ((forgottenMillis + 1 - EPOCH_MILLIS) << 18) / 1_000;
    }

    private @Nullable Lease waitersLease() throws InterruptedException {
        try {
            return waiting.get(PATIENCE.toMillis() + 5_000, TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            assertThat(e.getCause()).isInstanceOf(LockException.class);
            return null; // its one outcome: the store failed for too long
        } catch (TimeoutException e) {
            throw new AssertionError(scenario + ": the waiter has no outcome", e);
        }
    }

    private String line() {
        StringBuilder line = new StringBuilder("failures: " + where + ": " + scenario + ":");
        measured.forEach((what, millis) ->
                line.append(' ').append(what).append(' ').append(millis).append(" ms,"));
        return line.append(" granted ")
                .append(sum(w -> w.granted.get()))
                .append(", failed ")
                .append(sum(w -> w.failed.get()))
                .append(", timed out ")
                .append(sum(w -> w.timedOut.get()))
                .append(", lost ")
                .append(sum(w -> w.lost.get()))
                .append(", longest wait ")
                .append(workers.stream()
                        .mapToLong(w -> w.longestMillis.get())
                        .max()
                        .orElse(0))
                .append(" ms")
                .toString();
    }

    private long sum(ToLongFunction<Worker> count) {
        return workers.stream().mapToLong(count).sum();
    }
}
