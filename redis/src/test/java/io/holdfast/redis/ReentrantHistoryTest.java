package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.DistributedLock;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.history.Event.Kind;
import io.holdfast.history.Findings;
import io.holdfast.testkit.HistoryRecorder;
import io.holdfast.testkit.HistoryRecorder.Use;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The model of a reentrant mutex with fencing tokens, on a real server whose connections are cut and whose holds are
 * lost now and then: only the owner is let in again, the token stays the same while it is, and the count goes up and
 * down by one.
 */
@Timeout(120)
class ReentrantHistoryTest {

    private static final Duration LEASE = Duration.ofSeconds(1);
    private static final Duration WAIT = Duration.ofSeconds(5);
    private static final int THREADS = 6;
    private static final int ROUNDS = 60;

    private final HistoryRecorder recorder = new HistoryRecorder();
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

    @Test
    void threads_that_lock_again_what_they_hold() throws InterruptedException {
        try (RedisServer server = RedisServer.start();
                LockClient one = client(server);
                LockClient two = client(server)) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                DistributedLock lock = (i % 2 == 0 ? one : two).getLock("again");
                Random random = new Random(i);
                threads.add(new Thread(
                        () -> {
                            try {
                                for (int round = 0; round < ROUNDS; round++) {
                                    use(lock, random);
                                }
                            } catch (Throwable e) {
                                failures.add(e);
                            }
                        },
                        "user " + i));
            }
            threads.forEach(Thread::start);
            for (int cut = 0; cut < 5; cut++) {
                TimeUnit.MILLISECONDS.sleep(100);
                server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        assertThat(failures).isEmpty();
        Findings findings = recorder.assertInOrder(LEASE);
        assertThat(findings.granted()).isGreaterThan(THREADS * ROUNDS / 2);
        long again = recorder.history().events().stream()
                .filter(event -> event.kind() == Kind.AGAIN)
                .count();
        System.out.println("reentrant: " + findings.granted() + " granted, " + again + " times again, "
                + findings.lost() + " lost, " + findings.failed() + " failed");
        assertThat(again).isGreaterThan(THREADS * ROUNDS / 2);
    }

    private void use(DistributedLock lock, Random random) throws InterruptedException {
        Use use = recorder.askAsThread("again", WAIT);
        try {
            if (!lock.tryLock(WAIT.toMillis(), TimeUnit.MILLISECONDS)) {
                use.refused("timeout");
                return;
            }
        } catch (LockStoreException e) {
            use.refused("failed");
            return;
        }
        try {
            use.granted(lock);
            nest(use, lock, random, 1);
        } catch (LeaseLostException | IllegalMonitorStateException e) {
            use.lost();
            unlockAll(lock);
        }
    }

    /** Locks again, some times, up to five deep; and unlocks as often. */
    private static void nest(Use use, DistributedLock lock, Random random, int depth) throws InterruptedException {
        if (depth < 5 && random.nextInt(3) > 0) {
            long token = lock.fencingToken();
            if (!(random.nextBoolean() ? lock.tryLock() : lock.tryLock(1, TimeUnit.SECONDS))
                    || lock.fencingToken() != token) {
                // The lease has ended, and perhaps this thread has another by now.
                throw new IllegalMonitorStateException("token " + token + " is over");
            }
            use.again(lock);
            nest(use, lock, random, depth + 1);
        } else {
            LockSupport.parkNanos(random.nextInt(500_000));
        }
        use.unlock(lock, depth == 1);
    }

    private static void unlockAll(DistributedLock lock) {
        while (true) {
            try {
                lock.unlock();
            } catch (LeaseLostException e) {
                // Said once for each time that it was locked.
            } catch (IllegalMonitorStateException e) {
                return;
            }
        }
    }

    private static LockClient client(RedisServer server) {
        return LockClient.builder()
                .uri(server.uri() + "?timeout=1s")
                .leaseTime(LEASE)
                .storeTimeout(Duration.ofSeconds(2))
                .build();
    }
}
