package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Three clients that use two locks all the time while the database fails: the first for moments, the second for so long
 * that its lease is renewed. They note overlaps, tokens that go back, losses without a word, and progress.
 */
final class Crew implements AutoCloseable {

    static final Duration LEASE = Duration.ofSeconds(3);

    /** The lock that is used for moments. */
    static final String NAME = "crew";

    private static final LockOptions WAITING = LockOptions.defaults().waitAtMost(Duration.ofSeconds(2));
    private static final int STEP_MILLIS = 50;
    private static final int LONG_STEPS = 40;

    private interface Use {
        void run(Lease lease) throws InterruptedException;
    }

    private final List<LockClient> clients = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final Section moments = new Section();
    private final Section renewed = new Section();
    private final AtomicLong served = new AtomicLong();
    private final Queue<String> errors = new ConcurrentLinkedQueue<>();
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();
    private volatile boolean ended;

    Crew(String url) {
        for (int i = 0; i < 3; i++) {
            LockClient client = client(url);
            clients.add(client);
            start("crew-" + i, () -> work(client, NAME, this::use));
            start("crew-long-" + i, () -> work(client, NAME + ":long", this::useLong));
        }
    }

    static LockClient client(String url) {
        return LockClient.builder().uri(url).leaseTime(LEASE).build();
    }

    private void start(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        threads.add(thread);
        thread.start();
    }

    private void work(LockClient client, String name, Use use) {
        while (!ended) {
            try {
                Optional<Lease> lease = client.tryAcquire(name, WAITING);
                if (lease.isPresent()) {
                    use.run(lease.get());
                }
            } catch (LockStoreException e) {
                errors.add(String.valueOf(e.getMessage()));
            } catch (InterruptedException | RuntimeException e) {
                violations.add("not an error of the store: " + e);
                return;
            }
        }
    }

    private void use(Lease lease) throws InterruptedException {
        enter(moments, lease);
        Thread.sleep(3);
        leave(moments, lease);
        served.incrementAndGet();
    }

    private void useLong(Lease lease) throws InterruptedException {
        enter(renewed, lease);
        for (int i = 0; i < LONG_STEPS && lease.isValid() && !ended; i++) {
            Thread.sleep(STEP_MILLIS);
        }
        leave(renewed, lease);
    }

    /** Of two leases that are both valid, the first of the two questions finds the older one still valid. */
    private void enter(Section section, Lease lease) {
        Lease before = section.inside.getAndSet(lease);
        if (before != null && before.isValid() && lease.isValid()) {
            violations.add(lease + " is valid beside " + before);
        }
        long last = section.lastToken.getAndSet(lease.fencingToken());
        if (last >= lease.fencingToken() && lease.isValid()) {
            violations.add("token " + lease.fencingToken() + " came after " + last);
        }
    }

    private void leave(Section section, Lease lease) throws InterruptedException {
        section.inside.compareAndSet(lease, null);
        CountDownLatch told = new CountDownLatch(1);
        lease.onLost(told::countDown);
        boolean lost = !lease.isValid();
        if (lost && !told.await(30, TimeUnit.SECONDS)) {
            violations.add(lease + " was lost in silence");
        }
        try {
            lease.release();
            if (lost) {
                violations.add(lease + " was released after its loss as if nothing had happened");
            }
        } catch (LeaseLostException e) {
            // The lease ended while the database was away.
        }
    }

    /** Fails if they do not get on. */
    void awaitProgress() {
        long now = served.get();
        await().atMost(Duration.ofSeconds(40))
                .untilAsserted(
                        () -> assertThat(served.get()).as("errors: %s", errors).isGreaterThan(now + 10));
    }

    /** Waits until a client has received an error with these words. */
    void awaitError(String... words) {
        await().atMost(Duration.ofSeconds(40))
                .untilAsserted(() -> assertThat(errors)
                        .anyMatch(each -> List.of(words).stream().allMatch(each::contains)));
    }

    /** Returns what the store's errors said. */
    List<String> errors() {
        return List.copyOf(errors);
    }

    /** Ends them. Fails if one of them noted a violation, or is stuck. */
    @Override
    public void close() {
        ended = true;
        await().atMost(Duration.ofSeconds(60)).until(() -> threads.stream().noneMatch(Thread::isAlive));
        clients.forEach(LockClient::close);
        assertThat(violations).isEmpty();
        assertThat(errors).noneMatch(error -> error.contains("s3cret"));
    }

    private static final class Section {
        final AtomicReference<@Nullable Lease> inside = new AtomicReference<>();
        final AtomicLong lastToken = new AtomicLong();
    }
}
