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
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Clients of which each uses each of several locks all the time, for a moment. Who is inside counts who else comes in, and
 * compares neither leases nor tokens for that.
 */
final class Crowd implements AutoCloseable {

    private static final int CLIENTS = 4;
    private static final int NAMES = 3;
    private static final LockOptions WAITING = LockOptions.defaults().waitAtMost(Duration.ofSeconds(20));

    private final List<LockClient> clients = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicIntegerArray entries = new AtomicIntegerArray(NAMES);
    private final AtomicIntegerArray served = new AtomicIntegerArray(CLIENTS * NAMES);
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();
    private volatile boolean ended;

    Crowd(String url) {
        for (int i = 0; i < CLIENTS; i++) {
            LockClient client = Crew.client(url);
            clients.add(client);
            for (int name = 0; name < NAMES; name++) {
                int which = name;
                int user = i * NAMES + name;
                Thread thread = new Thread(() -> work(client, which, user), "crowd-" + user);
                threads.add(thread);
                thread.start();
            }
        }
    }

    private void work(LockClient client, int name, int user) {
        while (!ended) {
            try {
                Optional<Lease> lease = client.tryAcquire("crowd:" + name, WAITING);
                if (lease.isPresent()) {
                    use(lease.get(), name);
                    served.incrementAndGet(user);
                }
            } catch (LockStoreException | LeaseLostException e) {
                // While no server answers, and when a lease has ended until one does.
            } catch (InterruptedException | RuntimeException e) {
                violations.add("not an error of the store: " + e);
                return;
            }
        }
    }

    private void use(Lease lease, int name) throws InterruptedException {
        // Not if this thread stood still until its lease was over: then others may be inside.
        if (lease.isValid()) {
            int entry = entries.incrementAndGet(name);
            Thread.sleep(ThreadLocalRandom.current().nextInt(1, 10));
            if (entries.get(name) != entry && lease.isValid()) {
                violations.add("somebody else came in under " + lease);
            }
        }
        lease.release();
    }

    /** Fails unless each client gets each of its locks several times more. */
    void awaitProgress() {
        int[] before = new int[served.length()];
        for (int i = 0; i < before.length; i++) {
            before[i] = served.get(i);
        }
        await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
            for (int i = 0; i < before.length; i++) {
                assertThat(served.get(i)).as("user %s", i).isGreaterThan(before[i] + 2);
            }
        });
    }

    /** Ends them. Fails if two were inside at once, or if one is stuck. */
    @Override
    public void close() {
        ended = true;
        await().atMost(Duration.ofSeconds(60)).until(() -> threads.stream().noneMatch(Thread::isAlive));
        clients.forEach(LockClient::close);
        assertThat(violations).isEmpty();
    }
}
