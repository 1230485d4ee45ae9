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
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Three clients that use one lock all the time while the database fails. They note overlaps and progress. */
final class Crew implements AutoCloseable {

    static final Duration LEASE = Duration.ofSeconds(3);

    private static final String NAME = "crew";
    private static final LockOptions WAITING = LockOptions.defaults().waitAtMost(Duration.ofSeconds(2));

    private final List<LockClient> clients = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicReference<@Nullable Lease> inside = new AtomicReference<>();
    private final AtomicLong lastToken = new AtomicLong();
    private final AtomicLong served = new AtomicLong();
    private final Queue<String> errors = new ConcurrentLinkedQueue<>();
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();
    private volatile boolean ended;

    Crew(String url) {
        for (int i = 0; i < 3; i++) {
            LockClient client = client(url);
            clients.add(client);
            Thread thread = new Thread(() -> work(client), "crew-" + i);
            threads.add(thread);
            thread.start();
        }
    }

    static LockClient client(String url) {
        return LockClient.builder().uri(url).leaseTime(LEASE).build();
    }

    private void work(LockClient client) {
        while (!ended) {
            try {
                Optional<Lease> lease = client.tryAcquire(NAME, WAITING);
                if (lease.isPresent()) {
                    use(lease.get());
                }
            } catch (LockStoreException e) {
                errors.add(String.valueOf(e.getMessage()));
            } catch (LeaseLostException e) {
                // The lease ended while the database was away.
            } catch (InterruptedException | RuntimeException e) {
                violations.add("not an error of the store: " + e);
                return;
            }
        }
    }

    /** Of two leases that are both valid, the first of the two questions finds the older one still valid. */
    private void use(Lease lease) throws InterruptedException {
        Lease before = inside.getAndSet(lease);
        if (before != null && before.isValid() && lease.isValid()) {
            violations.add(lease + " is valid beside " + before);
        }
        long last = lastToken.getAndSet(lease.fencingToken());
        if (last >= lease.fencingToken() && lease.isValid()) {
            violations.add("token " + lease.fencingToken() + " came after " + last);
        }
        Thread.sleep(3);
        inside.compareAndSet(lease, null);
        lease.release();
        served.incrementAndGet();
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
                .until(() ->
                        errors.stream().anyMatch(each -> List.of(words).stream().allMatch(each::contains)));
    }

    /** Returns what the store's errors said. */
    List<String> errors() {
        return List.copyOf(errors);
    }

    /** Ends them. Fails if two held the lock at once, if tokens went back, or if one of them is stuck. */
    @Override
    public void close() {
        ended = true;
        await().atMost(Duration.ofSeconds(60)).until(() -> threads.stream().noneMatch(Thread::isAlive));
        clients.forEach(LockClient::close);
        assertThat(violations).isEmpty();
    }
}
