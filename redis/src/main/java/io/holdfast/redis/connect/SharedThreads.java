package io.holdfast.redis.connect;

import io.lettuce.core.resource.ClientResources;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The driver's threads for the members of one quorum. They start when the first member joins, and end when the last one
 * has left.
 *
 * <p>Thread-safe. No task on these threads blocks, so a member that hangs does not delay another: Lettuce 7 resolves
 * host names without blocking (Lettuce 6 only with {@code netty-resolver-dns} on the class path).
 */
public final class SharedThreads {

    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable ClientResources resources; // by lock; present while there are users
    private int users; // by lock

    /** Returns the threads. Each call must be followed by one {@link #leave}. */
    public ClientResources join() {
        lock.lock();
        try {
            ClientResources present = resources;
            if (present == null) {
                present = ClientResources.builder()
                        .threadFactoryProvider(Driver.THREADS)
                        .ioThreadPoolSize(2)
                        .computationThreadPoolSize(2)
                        .build();
                resources = present;
            }
            users++;
            return present;
        } finally {
            lock.unlock();
        }
    }

    /** Leaves the threads. Does not wait for them to end: one of them may be running this. */
    public void leave() {
        ClientResources ended = null;
        lock.lock();
        try {
            users--;
            if (users == 0) {
                ended = resources;
                resources = null;
            }
        } finally {
            lock.unlock();
        }
        if (ended != null) {
            var unused = ended.shutdown(0, 1, TimeUnit.SECONDS);
        }
    }
}
